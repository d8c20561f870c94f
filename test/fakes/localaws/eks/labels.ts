// Source: k8s.io/kubelet/pkg/apis/well_known_labels.go of Kubernetes 1.36.
const kubeletLabels = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);
const kubeletNamespaces = ['kubelet.kubernetes.io', 'node.kubernetes.io'];

/** The prefix of a key, without its slash; empty if it has none. */
export const namespaceOf = (label: string): string => (label.includes('/') ? label.slice(0, label.indexOf('/')) : '');

/** Is the namespace this domain, or a subdomain of it? */
export const isIn = (namespace: string, suffix: string): boolean =>
  namespace === suffix || namespace.endsWith(`.${suffix}`);

/** Is the label in a namespace that belongs to Kubernetes? */
export const isKubernetesLabel = (label: string): boolean =>
  ['kubernetes.io', 'k8s.io'].some((suffix) => isIn(namespaceOf(label), suffix));

/** May a kubelet set the label, although its namespace belongs to Kubernetes? */
export const isKubeletLabel = (label: string): boolean =>
  kubeletLabels.has(label) || kubeletNamespaces.some((suffix) => isIn(namespaceOf(label), suffix));
