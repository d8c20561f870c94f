/** Prerequisites: the facts that are gathered, a check, and its result. */
import type { WindowsPoolSpec } from '../api.gen.ts';
import type { CallError, CallResult } from '../ports/callResult.ts';
import type { Cluster } from '../ports/eks.ts';
import type {
  AccessEntry,
  Addon,
  ConfigMapOwner,
  ControllerWarning,
  InstanceType,
  LaunchTemplate,
  Offering,
  RoleMapping,
  Subnet,
} from '../ports/prerequisites.ts';
import type { PrerequisiteReason } from '../reasons.ts';

/**
 * All that was found out beside the cluster itself. A fact that is absent was not asked for, because nothing needed it: its checks say
 * nothing. One that was asked for and not found out carries the trouble.
 */
export interface PrerequisiteFacts {
  /** Whether everything was asked, or only what can turn for a group that lives. */
  readonly complete: boolean;
  /** ConfigMap kube-system/amazon-vpc-cni. */
  readonly cniConfig?: CallResult<Readonly<Record<string, string>> | undefined>;
  readonly cniAddon?: CallResult<Addon | undefined>;
  /** Who has a say in enable-windows-ipam of that ConfigMap; asked where the operator is about to set it. */
  readonly cniConfigOwner?: CallResult<ConfigMapOwner | undefined>;
  /** Whether Deployment kube-system/vpc-resource-controller exists. */
  readonly legacyController?: CallResult<boolean>;
  /** The names of the policies that are attached to the role of the cluster. */
  readonly clusterRolePolicies?: CallResult<readonly string[]>;
  /** Whether the webhook exists that requests pod addresses for Windows pods. */
  readonly podWebhook?: CallResult<boolean>;
  /** What the VPC resource controller warns of, by node; asked for a few nodes that have no addresses for pods. No check looks at it. */
  readonly controllerWarnings?: readonly {
    readonly node: string;
    readonly answer: CallResult<readonly ControllerWarning[]>;
  }[];
  readonly accessEntry?: CallResult<AccessEntry | undefined>;
  readonly roleMappings?: CallResult<readonly RoleMapping[]>;
  /** The version that spec.nodeGroup.launchTemplate stands for. */
  readonly launchTemplate?: CallResult<LaunchTemplate | undefined>;
  /** Whether EKS publishes an AMI for the pool's Kubernetes version. Asked only for versions that the operator's table does not list yet. */
  readonly ami?: CallResult<boolean>;
  /** Whether a Linux node takes pods. */
  readonly linuxNode?: CallResult<boolean>;
  /** Node roles of the groups that have Linux nodes. */
  readonly linuxRoles?: CallResult<readonly { readonly group: string; readonly nodeRoleArn: string }[]>;
  readonly instanceTypes?: CallResult<readonly InstanceType[]>;
  readonly offerings?: CallResult<readonly Offering[]>;
  readonly subnets?: CallResult<readonly Subnet[]>;
}

/** When a step about Windows IPAM was last done, in epoch milliseconds. */
export type IpamAttempts = Readonly<Partial<Record<'updateAddon' | 'applyCniConfig', number>>>;

/** When the operator enables Windows IPAM. Epoch milliseconds, and durations in milliseconds. */
export interface IpamOffer {
  readonly now: number;
  /** When this process last did each step about it. */
  readonly attempts: IpamAttempts;
  /** Why the last try came to nothing, where the same try would come to nothing again. */
  readonly error: CallError | undefined;
  readonly pollMs: number;
  /** Until it enables again what another user disabled. */
  readonly resyncMs: number;
  /** Until an update of the add-on that failed is tried again. */
  readonly createRetryMs: number;
}

/** What a check looks at. */
export interface CheckInput {
  readonly spec: WindowsPoolSpec;
  readonly cluster: Cluster;
  readonly region: string;
  readonly facts: PrerequisiteFacts;
  /** Whether the pool's node group is still to be made. */
  readonly creating: boolean;
  /** The status that EKS gives the pool's node group; undefined while there is none. */
  readonly groupStatus: string | undefined;
  /** Whether the operator makes an access entry that is missing. */
  readonly managesAccessEntry: boolean;
  /** What the operator does about Windows IPAM; undefined: nothing, because --enable-windows-ipam is off or the pool is paused. */
  readonly windowsIpam?: IpamOffer;
  /** Instances that the pool has, nodes or not yet: their addresses are no longer free. */
  readonly instances: number;
  /** Prerequisites that the user asked to ignore. */
  readonly ignored: ReadonlySet<PrerequisiteReason>;
}

/**
 * - `met`. `note`: what is met only later, by itself, and why nobody has to act.
 * - `failed`: the message says what was found and the next move. `passes`: it gets better by itself.
 * - `warning`: it may become a problem, or is one only for some workloads; the message is as that of `failed`. Blocks nothing.
 * - `unknown`: it could not be found out; the message says why. `right`: the one that is missing.
 */
export type PrerequisiteResult =
  | { readonly kind: 'met'; readonly note?: string }
  | { readonly kind: 'failed'; readonly message: string; readonly passes?: true }
  | { readonly kind: 'warning'; readonly message: string }
  | { readonly kind: 'unknown'; readonly message: string; readonly right?: string };

export interface PrerequisiteCheck {
  readonly reason: PrerequisiteReason;
  /** What it is about, in a message: `Windows IPAM`. */
  readonly about: string;
  /** The heading in docs/prerequisites.md, as an anchor. */
  readonly section: string;
  /** Pure. Undefined when what it looks at was not asked for. */
  readonly look: (input: CheckInput) => PrerequisiteResult | undefined;
}

/** A check with its result. */
export interface Checked<K extends PrerequisiteResult['kind']> {
  readonly check: PrerequisiteCheck;
  readonly result: Extract<PrerequisiteResult, { kind: K }>;
}

/** What the checks came to. */
export interface Examination {
  readonly failed: readonly Checked<'failed'>[];
  readonly warned: readonly Checked<'warning'>[];
  readonly unknown: readonly Checked<'unknown'>[];
  /** What would be in one of the three lists above, if the user had not asked to ignore it. */
  readonly ignored: readonly Checked<'failed' | 'warning' | 'unknown'>[];
  /** What is met only later, by itself, as sentences. */
  readonly notes: readonly string[];
}
