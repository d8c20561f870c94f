import { fileURLToPath } from 'node:url';
import { adminOf } from './admin.ts';
import { Faults } from './faults.ts';
import { Policy } from './iam/iam.ts';
import { clusterRoleName } from './network.ts';
import { type Kubelets, startKubelets } from './nodes/kubelets.ts';
import { type ClusterOptions, LocalAwsState } from './state.ts';
import type { Switches } from './switches.ts';
import type { CallEntry } from './wire/callLog.ts';
import { Front, type Gate } from './wire/front.ts';
import { HttpFront } from './wire/http.ts';

/** The shipped policy of the operator. */
export const shippedPolicy = fileURLToPath(new URL('../../../config/aws/iam-policy.json', import.meta.url));
/** Policies that an administrator attaches in addition for features of the operator. */
export const optionalPolicies = [
  'launch-templates.json',
  'own-launch-templates.json',
  'custom-amis.json',
  'windows-ipam.json',
].map((name) => fileURLToPath(new URL(`../../../config/aws/${name}`, import.meta.url)));

/** The options of a local AWS. The default of `port` is a free one. */
export interface LocalAwsOptions {
  readonly cluster: ClusterOptions;
  /** The kubeconfig of the user that can register nodes (`cloud` in hack/controlplane). Without it no nodes join. */
  readonly kubeconfig?: string;
  readonly port?: number;
  /** The address on which it listens. Default: 127.0.0.1. */
  readonly address?: string | undefined;
  /** The speed of time, relative to the default (CREATING takes 3 s). */
  readonly speed?: number;
  readonly switches?: Partial<Switches>;
  /** The quota of node groups; by default 30, as in EKS. */
  readonly nodegroupLimit?: number;
  /** The quota of nodes in a node group; by default 450, as in EKS. */
  readonly nodeLimit?: number;
  /** Path of the IAM policy of the caller; by default all shipped policies. */
  readonly policy?: string;
}

/** A running local AWS. */
export interface LocalAws {
  /** For AWS_ENDPOINT_URL, or AWS_ENDPOINT_URL_EKS, _EC2, _AUTO_SCALING, _SSM, _IAM and _STS. */
  readonly url: string;
  readonly state: LocalAwsState;
  readonly faults: Faults;
  /** The caller's permissions, and which of them were needed so far. */
  readonly policy: Policy;
  /** The kubelets; undefined without a kubeconfig. */
  readonly kubelets: Kubelets | undefined;
  /** Every call so far, in order. */
  calls(): CallEntry[];
  resetCalls(): void;
  /** Delays each call before and after it takes effect; see Gate. */
  setGate(gate: Gate): void;
  /** Stops everything; resolves when everything has stopped. */
  stop(): Promise<void>;
}

/** The caller that the policy is attached to. */
export const callerArnOf = (cloud: LocalAwsState): string =>
  `arn:aws:sts::${cloud.cluster.accountId}:assumed-role/windowspool-operator/windowspool-operator`;

/** The policy of a file, or all shipped policies, as an administrator would attach it: the placeholders in capitals are replaced. */
export function policyFor(cloud: LocalAwsState, path?: string): Policy {
  return Policy.fromFiles(path === undefined ? [shippedPolicy, ...optionalPolicies] : [path], {
    PARTITION: 'aws',
    REGION: cloud.cluster.region,
    ACCOUNT_ID: cloud.cluster.accountId,
    CLUSTER_NAME: cloud.cluster.name,
    CLUSTER_ROLE_NAME: clusterRoleName,
    // With a wildcard, so that roles that do not exist reach the check of EKS and not only that of IAM.
    NODE_ROLE_NAME: 'windows-nodes*',
    VPC_CNI_ROLE_NAME: 'vpc-cni',
  });
}

/** Starts a local AWS. */
export async function startLocalAws(options: LocalAwsOptions): Promise<LocalAws> {
  const state = new LocalAwsState(options);
  const front = new Front(state, policyFor(state, options.policy));
  const faults = new Faults(state, front);
  const http = new HttpFront(front, adminOf(front, faults), callerArnOf(state));
  const kubelets = options.kubeconfig === undefined ? undefined : startKubelets(state, options.kubeconfig);
  const url = await http.listen(options.port ?? 0, options.address);
  const driver = drive(state);
  return {
    url,
    state,
    faults,
    policy: front.policy,
    kubelets,
    calls: () => front.log.entries(),
    resetCalls: () => front.log.reset(),
    setGate: (gate) => {
      front.gate = gate;
    },
    stop: async () => {
      driver.stop();
      await Promise.all([http.close(), kubelets?.stop()]);
    },
  };
}

/** Runs due events of the timeline with the real clock. */
function drive(state: LocalAwsState): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  const arm = (): void => {
    clearTimeout(timer);
    const due = state.timeline.nextDue();
    if (due === undefined) return;
    timer = setTimeout(
      () => {
        state.timeline.settle();
        arm();
      },
      Math.max(0, due - Date.now()),
    );
  };
  state.timeline.onScheduled(arm);
  return {
    stop: () => {
      state.timeline.onScheduled(() => {});
      clearTimeout(timer);
    },
  };
}
