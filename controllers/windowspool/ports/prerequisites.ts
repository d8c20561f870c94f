/** What the checks of the prerequisites look at. */
import type { CallResult } from './callResult.ts';
import type { TemplateVersion } from './eks.ts';

/** An EKS add-on as installed: https://docs.aws.amazon.com/eks/latest/APIReference/API_Addon.html */
export interface Addon {
  readonly status: string;
  /** Whether its configuration values enable Windows IPAM; undefined: they are neither a JSON nor a YAML object. */
  readonly windowsIpam: boolean | undefined;
  /** EKS' `health.issues`, such as `ConfigurationConflict: Conflicts found when trying to apply.` */
  readonly issues: readonly string[];
  /** Epoch milliseconds of EKS' last change to it. */
  readonly modifiedAt: number;
}

/** Who has a say in a ConfigMap, and in one key of its data. */
export interface ConfigMapOwner {
  readonly uid: string;
  readonly resourceVersion: string;
  /** The tool that manages it, by its labels and annotations: `Helm release kube-system/aws-vpc-cni`. */
  readonly managedBy: string | undefined;
  /** Who wrote that key last, by managedFields: a field manager and a time, `kubectl-edit at 2026-03-01T12:00:00Z`. */
  readonly lastWriter: string | undefined;
}

/** An access entry of EKS: https://docs.aws.amazon.com/eks/latest/APIReference/API_AccessEntry.html */
export interface AccessEntry {
  /** STANDARD, EC2_LINUX, EC2_WINDOWS, FARGATE_LINUX, EC2, HYBRID_LINUX or HYPERPOD_LINUX. */
  readonly type: string;
}

/** One role of ConfigMap kube-system/aws-auth. */
export interface RoleMapping {
  readonly roleArn: string;
  readonly groups: readonly string[];
}

export interface InstanceType {
  readonly name: string;
  /** Such as `x86_64`, `arm64`. */
  readonly architectures: readonly string[];
  /** IPv4 addresses of one network interface, its own included; undefined when EC2 does not say. */
  readonly addressesPerInterface: number | undefined;
  /** Whether it runs on the Nitro system, which prefix delegation needs; absent when EC2 does not say. */
  readonly isNitro?: boolean;
}

/** That EC2 has an instance type in a zone. */
export interface Offering {
  readonly instanceType: string;
  readonly zone: string;
}

export interface Subnet {
  readonly id: string;
  readonly zone: string;
  readonly freeAddresses: number;
}

/** A version of a launch template, as far as EKS has rules about it. */
export interface LaunchTemplate {
  readonly id: string;
  readonly name: string;
  /** Its number. */
  readonly version: string;
  readonly instanceType: string | undefined;
  /** What EKS takes in no template of a pool, by EC2's names, with the values as text. */
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

export interface LaunchTemplates {
  /** The version of that number, or the one that `$Latest` or `$Default` stands for now; undefined when there is none. */
  find(wanted: TemplateVersion, signal: AbortSignal): Promise<CallResult<LaunchTemplate | undefined>>;
}

/** Add-ons of the operator's one EKS cluster. */
export interface Addons {
  /** Undefined when it is not installed. */
  find(name: string, signal: AbortSignal): Promise<CallResult<Addon | undefined>>;
  /**
   * Sets these configuration values of an add-on and keeps all others, its version and its role. Fields of its objects that somebody else
   * changed are kept, too. An add-on that is no longer as it was seen is the trouble `conflict`. Repeating a call with the same token is done.
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
  /** Makes one of type EC2_WINDOWS. Repeating a call with the same token is done; one that somebody else made is the trouble `busy`. */
  create(principalArn: string, token: string, signal: AbortSignal): Promise<CallResult<void>>;
}

/** What the VPC resource controller of EKS warns of in an event. */
export interface ControllerWarning {
  /** `Unsupported` or `InsufficientCidrBlocks`. */
  readonly reason: string;
  readonly message: string;
}

/** Managed policies of IAM roles. */
export interface RolePolicies {
  /** The names of the policies that are attached to the role. Inline policies are not among them. */
  attachedTo(roleName: string, signal: AbortSignal): Promise<CallResult<readonly string[]>>;
}

/** What EC2 has. What it does not know is left out of the answer. */
export interface Capacity {
  instanceTypes(names: readonly string[], signal: AbortSignal): Promise<CallResult<readonly InstanceType[]>>;
  /** In every zone of the region. */
  offerings(instanceTypes: readonly string[], signal: AbortSignal): Promise<CallResult<readonly Offering[]>>;
  subnets(ids: readonly string[], signal: AbortSignal): Promise<CallResult<readonly Subnet[]>>;
}

/** Objects of the cluster that are read when they are needed, past every cache. */
export interface SystemObjects {
  /** The data of ConfigMap kube-system/amazon-vpc-cni; undefined when there is none. */
  cniConfig(signal: AbortSignal): Promise<CallResult<Readonly<Record<string, string>> | undefined>>;
  /** Who has a say in a key of its data; undefined when there is no such ConfigMap. */
  cniConfigOwner(key: string, signal: AbortSignal): Promise<CallResult<ConfigMapOwner | undefined>>;
  /**
   * Sets a key of its data, and no other. Without `seen` the ConfigMap is created. One that changed since it was seen is the trouble
   * `conflict`, and so is a key that another field manager wrote into a ConfigMap that was created since.
   */
  setCniConfig(
    key: string,
    value: string,
    seen: ConfigMapOwner | undefined,
    signal: AbortSignal,
  ): Promise<CallResult<void>>;
  /** The roles of ConfigMap kube-system/aws-auth; none when there is none. */
  roleMappings(signal: AbortSignal): Promise<CallResult<readonly RoleMapping[]>>;
  /** Whether Deployment kube-system/vpc-resource-controller exists. */
  legacyController(signal: AbortSignal): Promise<CallResult<boolean>>;
  /** Whether MutatingWebhookConfiguration vpc-resource-mutating-webhook exists. */
  podWebhook(signal: AbortSignal): Promise<CallResult<boolean>>;
  /** The newest warnings of the VPC resource controller about a node, a few at most, in an order that does not depend on time. Events last an hour. */
  controllerWarnings(node: string, signal: AbortSignal): Promise<CallResult<readonly ControllerWarning[]>>;
  /** Whether a Linux node takes pods. */
  linuxNode(signal: AbortSignal): Promise<CallResult<boolean>>;
  /** The EKS node groups of all Linux nodes, sorted. */
  linuxGroups(signal: AbortSignal): Promise<CallResult<readonly string[]>>;
}

export interface PrerequisiteSources {
  readonly addons: Addons;
  readonly accessEntries: AccessEntries;
  readonly rolePolicies: RolePolicies;
  readonly capacity: Capacity;
  readonly launchTemplates: LaunchTemplates;
  readonly system: SystemObjects;
}
