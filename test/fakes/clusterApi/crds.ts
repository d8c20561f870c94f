/** The CRDs of the infrastructure provider `Sim`, with as much schema as the contracts of Cluster API need. */

export const INFRASTRUCTURE_GROUP = 'infrastructure.cluster.x-k8s.io';
export const INFRASTRUCTURE_VERSION = 'v1beta1';

const SIM_KINDS = ['SimCluster', 'SimControlPlane', 'SimMachine', 'SimMachinePool', 'SimMachineTemplate'] as const;

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;

/** A CRD for each kind. The label says that its version v1beta1 implements the contract v1beta2. */
export const simCrds = SIM_KINDS.map((kind) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${kind.toLowerCase()}s.${INFRASTRUCTURE_GROUP}`,
    labels: { 'cluster.x-k8s.io/v1beta2': INFRASTRUCTURE_VERSION },
  },
  spec: {
    group: INFRASTRUCTURE_GROUP,
    names: { kind, listKind: `${kind}List`, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase() },
    scope: 'Namespaced',
    versions: [
      {
        name: INFRASTRUCTURE_VERSION,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } },
      },
    ],
  },
}));
