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

/** The policy that the operator ships with. */
export const shippedPolicy = fileURLToPath(new URL('../../config/aws/iam-policy.json', import.meta.url));
/** What an administrator attaches beside it for options of the operator. */
const optionalPolicies = ['windows-ipam.json'].map((name) =>
  fileURLToPath(new URL(`../../config/aws/${name}`, import.meta.url)),
);

/** What a local AWS is started with. Without `port` it takes a free one. */
export interface LocalAwsOptions {
  readonly cluster: ClusterOptions;
  /** The kubeconfig of the user that may register nodes (hack/controlplane calls it `cloud`). Without it no nodes join. */
  readonly kubeconfig?: string;
  readonly port?: number;
  /** How many times faster than the defaults (CREATING takes 3 s) time runs. */
  readonly speed?: number;
  readonly switches?: Partial<Switches>;
  /** Node groups that the cluster may have; 30 if not given, as EKS' quota is. */
  readonly nodegroupLimit?: number;
  /** Path of the IAM policy that the caller has; all that is shipped if not given. */
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
  /** The nodes' side; undefined without a kubeconfig. */
  readonly kubelets: Kubelets | undefined;
  /** Every call so far, in order. */
  calls(): CallEntry[];
  resetCalls(): void;
  /** Holds each call before and after it takes effect; see Gate. */
  setGate(gate: Gate): void;
  /** Stops everything; resolves when nothing is left. */
  stop(): Promise<void>;
}

/** The caller that the policy is attached to. */
export const callerArnOf = (cloud: LocalAwsState): string =>
  `arn:aws:sts::${cloud.cluster.accountId}:assumed-role/windowspool-operator/windowspool-operator`;

/** The policy of a file, or all that is shipped, as the account's administrator would attach it: the words in capitals are filled in. */
export function policyFor(cloud: LocalAwsState, path?: string): Policy {
  return Policy.fromFiles(path === undefined ? [shippedPolicy, ...optionalPolicies] : [path], {
    PARTITION: 'aws',
    REGION: cloud.cluster.region,
    ACCOUNT_ID: cloud.cluster.accountId,
    CLUSTER_NAME: cloud.cluster.name,
    CLUSTER_ROLE_NAME: clusterRoleName,
    // With a star, so that roles that don't exist reach the check of EKS and not only that of IAM.
    NODE_ROLE_NAME: 'windows-nodes*',
    VPC_CNI_ROLE_NAME: 'vpc-cni',
  });
}

/** Starts a local AWS on 127.0.0.1. */
export async function startLocalAws(options: LocalAwsOptions): Promise<LocalAws> {
  const state = new LocalAwsState(options);
  const front = new Front(state, policyFor(state, options.policy));
  const faults = new Faults(state, front.policy, front.faults);
  const http = new HttpFront(front, adminOf(front, faults), callerArnOf(state));
  const kubelets = options.kubeconfig === undefined ? undefined : startKubelets(state, options.kubeconfig);
  const url = await http.listen(options.port ?? 0);
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

/** Settles the timeline whenever something in it is due, by the real clock. */
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
