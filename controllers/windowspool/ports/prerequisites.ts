/** What the prerequisite checks read. */
import type { CallResult } from './callResult.ts';
import type { TemplateVersion } from './eks.ts';
import type { NodeRecord } from './nodes.ts';
import type { EarlyEnd } from './userScript.ts';

/** An EKS add-on as installed: https://docs.aws.amazon.com/eks/latest/APIReference/API_Addon.html */
export interface Addon {
  readonly status: string;
  /** Whether its configuration values enable Windows IPAM; undefined: they are neither a JSON nor a YAML object. */
  readonly windowsIpam: boolean | undefined;
  /** EKS' `health.issues`, such as `ConfigurationConflict: Conflicts found when trying to apply.` */
  readonly issues: readonly string[];
  /** When EKS last changed it, in epoch milliseconds. */
  readonly modifiedAt: number;
}

/** Who manages a ConfigMap, and who last wrote one key of its data. */
export interface ConfigMapOwner {
  readonly uid: string;
  readonly resourceVersion: string;
  /** The tool that manages it, by its labels and annotations: `Helm release kube-system/aws-vpc-cni`. */
  readonly managedBy: string | undefined;
  /** Who last wrote that key, by managedFields: a field manager and a time, `kubectl-edit at 2026-03-01T12:00:00Z`. */
  readonly lastWriter: string | undefined;
}

/** An EKS access entry: https://docs.aws.amazon.com/eks/latest/APIReference/API_AccessEntry.html */
export interface AccessEntry {
  /** STANDARD, EC2_LINUX, EC2_WINDOWS, FARGATE_LINUX, EC2, HYBRID_LINUX or HYPERPOD_LINUX. */
  readonly type: string;
  /** In epoch milliseconds; absent when EKS does not report it. */
  readonly createdAt?: number;
}

/** One role in ConfigMap kube-system/aws-auth. */
export interface RoleMapping {
  readonly roleArn: string;
  readonly groups: readonly string[];
}

/** An EC2 instance type. */
export interface InstanceType {
  readonly name: string;
  /** Such as `x86_64`, `arm64`. */
  readonly architectures: readonly string[];
  /** IPv4 addresses of one network interface, including its own; undefined when EC2 does not report it. */
  readonly addressesPerInterface: number | undefined;
  /** Whether it runs on the Nitro system, which prefix delegation needs; absent when EC2 does not report it. */
  readonly isNitro?: boolean;
  /** Whether virtual machines can run on it: always, because it is bare metal, or if the launch template enables nested virtualization. */
  readonly virtualization?: 'always' | 'ifEnabled';
  /** Whether EC2 can hibernate it, with an operating system that allows that; absent when EC2 does not report it. */
  readonly hibernates?: boolean;
  /** Absent when EC2 does not report it. */
  readonly memoryMiB?: number;
}

/** An instance type that EC2 offers in a zone. */
export interface Offering {
  readonly instanceType: string;
  readonly zone: string;
}

/** A subnet of the VPC. */
export interface Subnet {
  readonly id: string;
  readonly zone: string;
  readonly freeAddresses: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** Selects subnets: one by its ID, or all of the cluster's VPC with these tags. Exactly one of the two is set. */
export interface SubnetTerm {
  readonly id?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

/** Selects security groups: one by its ID, or all of the cluster's VPC with these tags. Exactly one of the two is set. */
export type SecurityGroupTerm = SubnetTerm;

/** A version of a launch template, as far as EKS restricts it. */
export interface LaunchTemplate {
  readonly id: string;
  readonly name: string;
  /** The version number. */
  readonly version: string;
  readonly instanceType: string | undefined;
  /** The root volume, as far as the template defines it. */
  readonly rootVolume?: { readonly sizeGiB?: number; readonly isEncrypted?: boolean };
  /** The security groups that the nodes get in place of the cluster security group; absent: the template has none. Sorted. */
  readonly securityGroups?: readonly string[];
  /** Whether it has user data, which nodes run before they join. */
  readonly hasUserData?: true;
  /** What its user data is if it is for Linux, as in `linuxFormatOf`; absent: it has none, or it may be for Windows. */
  readonly linuxUserData?: string;
  /** The command that ends its user data before that of EKS; absent: none was found. */
  readonly earlyEnd?: EarlyEnd;
  /** Whether it enables nested virtualization. */
  readonly isNested?: true;
  /** Settings that EKS accepts in no template of a node group, by their EC2 names, with their values as text. */
  readonly forbidden: readonly {
    readonly field:
      | 'IamInstanceProfile'
      | 'SubnetId'
      | 'InstanceMarketOptions'
      | 'HibernationOptions'
      | 'InstanceInitiatedShutdownBehavior'
      | 'ImageId';
    readonly value: string;
  }[];
}

/** An AMI. */
export interface Image {
  readonly id: string;
  readonly name: string;
  /** `available`, `pending`, `disabled` or another one of EC2. */
  readonly state: string;
  readonly isWindows: boolean;
  /** Such as `x86_64`. */
  readonly architecture: string;
  /** The size of its root volume, in GiB; absent when EC2 does not report it. */
  readonly rootVolumeGiB?: number;
  /** In epoch milliseconds; absent when EC2 does not report it. */
  readonly createdAt?: number;
  /** Whether Amazon owns it, which makes its Windows AMIs private after some months. */
  readonly isOfAmazon: boolean;
  /** When EC2 deprecates it, in epoch milliseconds; absent: it does not. */
  readonly deprecatedAt?: number;
}

/** Reads AMIs. */
export interface Images {
  /** The AMI with that ID; undefined when it does not exist, or is not shared with the account. */
  find(id: string, signal: AbortSignal): Promise<CallResult<Image | undefined>>;
  /** The value of an SSM parameter, which should be the ID of an AMI; undefined when the parameter does not exist. */
  idIn(parameter: string, signal: AbortSignal): Promise<CallResult<string | undefined>>;
}

/** Reads launch templates. */
export interface LaunchTemplates {
  /** The version with that number, or the one that `$Latest` or `$Default` resolves to; undefined when it does not exist. */
  find(wanted: TemplateVersion, signal: AbortSignal): Promise<CallResult<LaunchTemplate | undefined>>;
}

/** Add-ons of the operator's EKS cluster. */
export interface Addons {
  /** Undefined when it is not installed. */
  find(name: string, signal: AbortSignal): Promise<CallResult<Addon | undefined>>;
  /**
   * Sets these configuration values of an add-on, and keeps all others, its version and its role (conflict resolution PRESERVE). Error `conflict` if
   * the add-on changed since it was observed. Idempotent for the same token.
   */
  configure(
    name: string,
    values: Readonly<Record<string, string>>,
    seen: Addon,
    token: string,
    signal: AbortSignal,
  ): Promise<CallResult<void>>;
}

/** Access entries of that cluster. */
export interface AccessEntries {
  find(principalArn: string, signal: AbortSignal): Promise<CallResult<AccessEntry | undefined>>;
  /** Creates one of type EC2_WINDOWS with these tags. Idempotent for the same token; error `busy` if another client created it. */
  create(
    principalArn: string,
    tags: Readonly<Record<string, string>>,
    token: string,
    signal: AbortSignal,
  ): Promise<CallResult<void>>;
}

/** A warning event of the VPC resource controller of EKS. */
export interface ControllerWarning {
  /** `Unsupported` or `InsufficientCidrBlocks`. */
  readonly reason: string;
  readonly message: string;
}

/** IAM roles. */
export interface Roles {
  /** The names of the managed policies attached to the role, without inline policies. */
  policiesOf(roleName: string, signal: AbortSignal): Promise<CallResult<readonly string[]>>;
  /** When the role was created, in epoch milliseconds; undefined when it does not exist, or IAM does not report it. */
  createdAt(roleName: string, signal: AbortSignal): Promise<CallResult<number | undefined>>;
}

/** EC2 capacity. What EC2 does not know is missing in the results. */
export interface Capacity {
  instanceTypes(names: readonly string[], signal: AbortSignal): Promise<CallResult<readonly InstanceType[]>>;
  /** In every zone of the region. */
  offerings(instanceTypes: readonly string[], signal: AbortSignal): Promise<CallResult<readonly Offering[]>>;
  /** The subnets that any of the terms selects, each once, sorted by ID. */
  subnets(terms: readonly SubnetTerm[], vpcId: string, signal: AbortSignal): Promise<CallResult<readonly Subnet[]>>;
  /**
   * Whether EC2 encrypts every new volume of the account in the Region:
   * https://docs.aws.amazon.com/ebs/latest/userguide/encryption-by-default.html
   */
  encryptsVolumes(signal: AbortSignal): Promise<CallResult<boolean>>;
}

/** A rule of a security group. It allows the traffic with its peers. */
export interface SecurityRule {
  /** `tcp`, `udp`, `icmp`, another protocol by its number, or `all`. */
  readonly protocol: string;
  /** Both included; absent: all ports. */
  readonly ports?: { readonly from: number; readonly to: number };
  /** The security groups of the peers, by ID. */
  readonly groups: readonly string[];
  /** Whether it also allows ranges of addresses, or prefix lists. */
  readonly hasAddresses: boolean;
}

/** A security group with its rules. */
export interface SecurityGroup {
  readonly id: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly inbound: readonly SecurityRule[];
  readonly outbound: readonly SecurityRule[];
}

/** Reads security groups. */
export interface SecurityGroups {
  /** Those with these IDs that exist. */
  find(ids: readonly string[], signal: AbortSignal): Promise<CallResult<readonly SecurityGroup[]>>;
  /** Those that any of the terms selects, each once, sorted by ID. */
  selectedBy(
    terms: readonly SecurityGroupTerm[],
    vpcId: string,
    signal: AbortSignal,
  ): Promise<CallResult<readonly SecurityGroup[]>>;
}

/** Whether a Linux node accepts pods; `cordoned`: one that would accept them if it were not cordoned. */
export interface LinuxNodeView {
  readonly acceptsPods: boolean;
  readonly cordoned?: string;
}

/** Objects of the cluster that are read on demand, uncached. */
export interface SystemObjects {
  /** The data of ConfigMap kube-system/amazon-vpc-cni; undefined when it does not exist. */
  cniConfig(signal: AbortSignal): Promise<CallResult<Readonly<Record<string, string>> | undefined>>;
  /** Who manages a key of its data; undefined when the ConfigMap does not exist. */
  cniConfigOwner(key: string, signal: AbortSignal): Promise<CallResult<ConfigMapOwner | undefined>>;
  /**
   * Sets one key of its data, and creates the ConfigMap without `seen`. Error `conflict` if it changed since it was observed, or if another field
   * manager wrote the key into a ConfigMap that was created since.
   */
  setCniConfig(
    key: string,
    value: string,
    seen: ConfigMapOwner | undefined,
    signal: AbortSignal,
  ): Promise<CallResult<void>>;
  /** The roles in ConfigMap kube-system/aws-auth; empty when it does not exist. */
  roleMappings(signal: AbortSignal): Promise<CallResult<readonly RoleMapping[]>>;
  /** Whether Deployment kube-system/vpc-resource-controller exists. */
  legacyController(signal: AbortSignal): Promise<CallResult<boolean>>;
  /** Whether MutatingWebhookConfiguration vpc-resource-mutating-webhook exists. */
  podWebhook(signal: AbortSignal): Promise<CallResult<boolean>>;
  /**
   * The newest warnings of the VPC resource controller about a node, a few at most, in a stable order. Events last an hour, and name the node alone:
   * those from before its creation are about a former node of that name.
   */
  controllerWarnings(
    node: Pick<NodeRecord, 'name' | 'createdAt'>,
    signal: AbortSignal,
  ): Promise<CallResult<readonly ControllerWarning[]>>;
  /** Whether a Linux node accepts pods; if none does, one that is only cordoned. */
  linuxNode(signal: AbortSignal): Promise<CallResult<LinuxNodeView>>;
  /** The node of each pod of CoreDNS that is scheduled and not terminating, sorted; two pods on a node are listed twice. */
  dnsNodes(signal: AbortSignal): Promise<CallResult<readonly string[]>>;
  /** The nodes that are in no managed node group, and that EKS does not manage otherwise, such as on Fargate; sorted, a few hundred at most. */
  unmanagedNodes(signal: AbortSignal): Promise<CallResult<readonly string[]>>;
  /** The EKS node groups of all Linux nodes, sorted. */
  linuxGroups(signal: AbortSignal): Promise<CallResult<readonly string[]>>;
}

/** What a grammar of PowerShell finds in a script. It is not that of PowerShell itself. Lines are those of the text, from 1. */
export interface ScriptSyntax {
  /** The first bracket, string or comment that does not end, or that ends without a beginning. */
  readonly error?: number;
  /** The first `exit` that is a command, also in a function or a script block. */
  readonly exit?: number;
}

/** A key of a ConfigMap that has a script. */
export interface ScriptSource {
  /** Of the ConfigMap. */
  readonly namespace: string;
  /** The keys of its data, sorted; undefined: it does not exist. */
  readonly keys: readonly string[] | undefined;
  /** The value of the key; undefined: it has no such key, or in binaryData only. */
  readonly text: string | undefined;
  readonly isBinary: boolean;
  /** Absent: it was not parsed. */
  readonly syntax?: ScriptSyntax;
}

/** Reads scripts from ConfigMaps in the namespace of the operator: they run on nodes, so only who may write there may write them. */
export interface UserScripts {
  read(
    script: { readonly configMap: string; readonly key: string },
    signal: AbortSignal,
  ): Promise<CallResult<ScriptSource>>;
}

/** Everything that the prerequisite checks read. */
export interface PrerequisiteSources {
  readonly addons: Addons;
  readonly accessEntries: AccessEntries;
  readonly roles: Roles;
  readonly capacity: Capacity;
  readonly launchTemplates: LaunchTemplates;
  readonly images: Images;
  readonly securityGroups: SecurityGroups;
  readonly system: SystemObjects;
  readonly userScripts: UserScripts;
}
