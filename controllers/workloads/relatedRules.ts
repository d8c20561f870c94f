/** Rules about the objects that serve workloads on Windows. Policies cannot read several objects, so only the linter has these rules. */
import type { Rule } from './rule.ts';
import { NO_POD_IDENTITY, POD_IDENTITY } from './securityRules.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What the rules know of a workload on Windows. */
export interface WindowsWorkload {
  readonly name: string;
  /** Absent if its manifest has none. */
  readonly namespace: string | undefined;
  /** The labels of its pods. */
  readonly labels: Fields;
  /** The number of its pods; 0 if that is unknown. */
  readonly replicas: number;
  readonly serviceAccount: string;
  /** The claims that its pods mount. */
  readonly claims: readonly string[];
  /** The specs of the claims that are created with its pods. */
  readonly claimTemplates: readonly Fields[];
  /** The SecretProviderClasses that its pods mount. */
  readonly secretProviders: readonly string[];
  /** The build that its nodeSelector or its RuntimeClass selects, or ''. */
  readonly build: string;
  readonly isHostProcess: boolean;
  /** Whether Pod Security accepts it in a namespace that enforces the restricted profile, as far as that depends on the operating system. */
  readonly isRestricted: boolean;
}

/** A rule about an object of one kind. */
export interface RelatedRule extends Pick<Rule, 'name' | 'grade' | 'message' | 'source'> {
  readonly kinds: readonly string[];
  /** Whether the object violates the rule, by the workloads that it serves. */
  readonly violates: (object: Fields, served: readonly WindowsWorkload[]) => boolean;
}

const SERVICES = 'https://kubernetes.io/docs/concepts/services-networking/windows-networking/';
const EKS = 'https://docs.aws.amazon.com/eks/latest/userguide';
const SERVER_2019 = '10.0.17763';
/** Which the API server sets by default. */
const DEFAULT_TIMEOUT = 10_800;
const MOST_BACKENDS = 1024;

/** File systems of Linux; Windows formats volumes with NTFS. */
const LINUX_FILE_SYSTEMS: readonly unknown[] = ['ext2', 'ext3', 'ext4', 'xfs', 'btrfs'];
/** It ignores the file system on Windows, and its default is ext4 there as well: pkg/mounter/mount_windows_proxyV2.go of kubernetes-sigs/aws-ebs-csi-driver. */
const EBS = 'ebs.csi.aws.com';
/** AWS documents that these drivers do not support Windows. */
const LINUX_DRIVERS: readonly unknown[] = ['efs.csi.aws.com', 's3.csi.aws.com'];

/** All rules about related objects, in the order of the documentation. */
export const RELATED_RULES: readonly RelatedRule[] = [
  {
    name: 'SessionAffinity2019',
    grade: 'advice',
    kinds: ['Service'],
    violates: (service, served) =>
      field(service, 'spec', 'sessionAffinity') === 'ClientIP' && served.some(({ build }) => build === SERVER_2019),
    message: 'kube-proxy on Windows Server 2019 ignores sessionAffinity. Use Windows Server 2022 or later',
    source: `${SERVICES}#load-balancing-and-services`,
  },
  {
    name: 'SessionAffinityTimeout',
    grade: 'advice',
    kinds: ['Service'],
    violates: (service) => {
      const timeout = field(service, 'spec', 'sessionAffinityConfig', 'clientIP', 'timeoutSeconds');
      return typeof timeout === 'number' && timeout !== DEFAULT_TIMEOUT;
    },
    message:
      'kube-proxy on Windows ignores timeoutSeconds of sessionAffinityConfig, so clients on Windows nodes can stay longer with a pod. Do not rely on it',
    source: 'https://kubernetes.io/docs/reference/networking/virtual-ips/#session-stickiness-timeout',
  },
  {
    name: 'TooManyBackends',
    grade: 'fails',
    kinds: ['Service'],
    // kube-proxy does nothing for headless Services.
    violates: (service, served) =>
      field(service, 'spec', 'clusterIP') !== 'None' &&
      served.reduce((sum, { replicas }) => sum + replicas, 0) > MOST_BACKENDS,
    message: 'Windows supports at most 1,024 pods of a Service. Use several Services',
    source: `${SERVICES}#limitations`,
  },
  {
    name: 'NetworkPolicyNotEnforced',
    grade: 'advice',
    kinds: ['NetworkPolicy'],
    violates: () => true,
    message:
      'The Amazon VPC CNI does not enforce network policies on Windows nodes. Use security groups of the nodes, or Calico for Windows',
    source: `${EKS}/cni-network-policy.html`,
  },
  {
    name: 'PodSecurityGroups',
    grade: 'fails',
    kinds: ['SecurityGroupPolicy'],
    violates: () => true,
    message:
      'Pods on Windows nodes cannot have security groups of their own. Exclude them, and set nodeGroup.securityGroups of the pool',
    source: `${EKS}/security-groups-for-pods.html`,
  },
  {
    name: 'PodIdentityAssociation',
    grade: 'fails',
    kinds: ['PodIdentityAssociation'],
    violates: () => true,
    message: `${NO_POD_IDENTITY}. Use IAM roles for service accounts`,
    source: POD_IDENTITY,
  },
  {
    name: 'LinuxStorage',
    grade: 'fails',
    kinds: ['StorageClass', 'PersistentVolume'],
    violates: (object) =>
      LINUX_DRIVERS.includes(object.provisioner) ||
      LINUX_DRIVERS.includes(field(object, 'spec', 'csi', 'driver')) ||
      field(object, 'spec', 'nfs') !== undefined,
    message:
      'The file system cannot be mounted on Windows, so the pods do not start. Use Amazon EBS, or FSx for Windows File Server with the SMB driver',
    source: `${EKS}/efs-csi.html`,
  },
  {
    name: 'FileSystemType',
    grade: 'advice',
    kinds: ['StorageClass', 'PersistentVolume'],
    violates: (object) =>
      [
        field(object, 'parameters', 'csi.storage.k8s.io/fstype'),
        field(object, 'parameters', 'fsType'),
        field(object, 'spec', 'csi', 'fsType'),
      ].some((type) => LINUX_FILE_SYSTEMS.includes(type)) &&
      object.provisioner !== EBS &&
      field(object, 'spec', 'csi', 'driver') !== EBS,
    message:
      'The file system is one of Linux: depending on the driver, it is ignored, or the pods do not start. Use a StorageClass with the type ntfs for Windows',
    source: 'https://github.com/kubernetes-sigs/azuredisk-csi-driver/issues/561',
  },
  {
    name: 'SecretProvider',
    grade: 'advice',
    kinds: ['SecretProviderClass'],
    violates: (object) => field(object, 'spec', 'provider') === 'aws',
    message:
      'The AWS provider of the Secrets Store CSI driver is not published for Windows, so without your own build of it the pods do not start. Read the secrets in the application',
    source: 'https://github.com/aws/secrets-store-csi-driver-provider-aws/issues/415',
  },
  {
    name: 'HostProcessForbidden',
    grade: 'fails',
    kinds: ['Namespace'],
    violates: (namespace, served) =>
      ['baseline', 'restricted'].includes(String(enforced(namespace))) &&
      served.some(({ isHostProcess }) => isHostProcess),
    message:
      'The namespace enforces a profile of Pod Security that forbids HostProcess, so the pods are rejected. Move them to a namespace that enforces privileged',
    source: 'https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline',
  },
  {
    name: 'RestrictedWithoutOS',
    grade: 'fails',
    kinds: ['Namespace'],
    violates: (namespace, served) =>
      enforced(namespace) === 'restricted' &&
      served.some(({ isRestricted, isHostProcess }) => !isRestricted && !isHostProcess),
    message:
      'The namespace enforces the restricted profile of Pod Security, which requires Linux fields of these pods. Set os.name: windows',
    source: 'https://kubernetes.io/docs/concepts/security/pod-security-standards/#os-specific-policy-controls',
  },
];

function enforced(namespace: Fields): unknown {
  return field(namespace, 'metadata', 'labels', 'pod-security.kubernetes.io/enforce');
}

/** A field of an object of unknown shape. */
export function field(object: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? (value as Fields)[key] : undefined),
    object,
  );
}
