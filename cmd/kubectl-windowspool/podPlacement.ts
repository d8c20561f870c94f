/** Why a pod has no node: what its gates, the Windows nodes, the scheduler and autoscalers say. Pure. */
import type { V1Pod } from '@kubernetes/client-node';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { POOL_KEY } from '../../controllers/windowspool/api/labels.ts';
import { causeOf, explain, knownErrorIn } from '../../controllers/windowspool/knownErrors/explain.ts';
import { isOurs } from '../../controllers/windowspool/nodes/nodeTaints.ts';
import { isOtherOsTaint, isRegistrationTaint } from '../../controllers/windowspool/nodes/verify.ts';
import { POD_ADDRESSES, WINDOWS_BUILD_LABEL } from '../../controllers/windowspool/nodes/windowsVersions.ts';
import type { NodeRecord, Taint } from '../../controllers/windowspool/ports/nodes.ts';
import type { Toleration } from '../../controllers/windowspool/ports/runtimeClasses.ts';
import { describeTaint, untolerated } from '../../controllers/windowspool/runtimeClass/runtimeClass.ts';
import { labelIn } from '../../controllers/windowspool/util/labelSelector.ts';
import { parseQuantity } from '../../controllers/windowspool/util/quantity.ts';
import { joined, sentence } from '../../controllers/windowspool/util/words.ts';
import { type Cause, causeOfError, type Evidence, warningsOfNode } from './diagnosis.ts';

/** Why the pod has no node. */
export function placementCauses(evidence: Evidence): Cause[] {
  const { pod, nodes, warnings } = evidence;
  const gates = pod.spec?.schedulingGates?.map(({ name }) => name) ?? [];
  if (gates.length > 0)
    return [
      {
        what: `The pod has scheduling gates: ${joined(gates)}. It is not scheduled until their controllers remove them.`,
        remedy: 'Look at the controller that sets the gate, such as the queue of a job.',
      },
    ];
  const scheduler =
    unscheduledIn(pod) ?? textOf(warnings, FAILED_SCHEDULING, (text) => !text.startsWith(KARPENTER_FAILED));
  return [
    ...(nodes?.length === 0
      ? [{ what: 'The cluster has no Windows nodes.', command: 'kubectl windowspool status' }]
      : []),
    ...(nodes?.length !== 0 && scheduler?.includes(`Insufficient ${POD_ADDRESSES}`) ? outOfAddresses(evidence) : []),
    ...misfitsOf(pod, nodes ?? []),
    ...said(
      'Karpenter',
      textOf(warnings, FAILED_SCHEDULING, (text) => text.startsWith(KARPENTER_FAILED)),
    ),
    ...said('The cluster-autoscaler', textOf(warnings, NOT_SCALED_UP)),
    ...said('The scheduler', scheduler),
  ];
}

const FAILED_SCHEDULING = 'FailedScheduling: ';
/** https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md */
const NOT_SCALED_UP = 'NotTriggerScaleUp: ';
/** Karpenter's events have the reason of the scheduler's: kubernetes-sigs/karpenter pkg/controllers/provisioning/scheduling/events.go */
const KARPENTER_FAILED = 'Failed to schedule pod, ';

/** The reasons of the events that only a pod without a node has. */
export const PLACEMENT_REASONS: ReadonlySet<string> = new Set(['FailedScheduling', 'NotTriggerScaleUp']);

/** The text of the latest event with the prefix. */
function textOf(warnings: readonly string[], prefix: string, isWanted: (text: string) => boolean = () => true) {
  const texts = warnings.filter((text) => text.startsWith(prefix)).map((text) => text.slice(prefix.length));
  return texts.find(isWanted);
}

/** What a component says, with what is known of it. */
function said(who: string, text: string | undefined): Cause[] {
  if (!text) return [];
  const quote = `${who} says: ${sentence(text)}`;
  const error = knownErrorIn(text);
  return [
    error && error.name !== 'NodeOutOfPodAddresses'
      ? { what: `${causeOf(error)} ${error.remedy}`, remedy: quote }
      : { what: quote },
  ];
}

/** Why the pod fits no Windows node. The scheduler's message has the rest, such as resources. */
function misfitsOf(pod: Wire<V1Pod>, nodes: readonly NodeRecord[]): Cause[] {
  const groups = new Map<string, { readonly cause: Cause; readonly names: string[] }>();
  for (const node of nodes) {
    const cause = misfitOf(pod, node);
    if (!cause) continue;
    const group = groups.get(cause.what) ?? { cause, names: [] };
    group.names.push(node.name);
    groups.set(cause.what, group);
  }
  return [...groups.values()]
    .sort((a, b) => b.names.length - a.names.length)
    .map(({ cause, names }) => ({
      ...cause,
      what: `${names.length} of ${nodes.length} Windows nodes cannot run the pod: ${names[0]} ${cause.what}`,
    }));
}

/** All addresses of the nodes that fit the pod are taken, or they have none, which the events of these nodes explain. */
function outOfAddresses(evidence: Evidence): Cause[] {
  const { pod, nodes = [] } = evidence;
  const fitting = nodes.filter((node) => misfitOf(pod, node) === undefined);
  const having = fitting.map(({ name, allocatable }) => `${name} has ${allocatable[POD_ADDRESSES] ?? 'none'}`);
  const { cause, remedy } = knownErrorIn(`Insufficient ${POD_ADDRESSES}`) ?? { cause: '', remedy: '' };
  const without = fitting.filter(({ allocatable }) => (parseQuantity(allocatable[POD_ADDRESSES]) ?? 0) === 0);
  const reasons = explain(without.flatMap(({ name }) => warningsOfNode(evidence, name))).map((found) =>
    causeOfError(found),
  );
  if (fitting.length > without.length || fitting.length === 0)
    return [...reasons, { what: `${cause}${having.length > 0 ? ` ${having.slice(0, 3).join(', ')}.` : ''}`, remedy }];
  const pool = fitting[0]?.labels[POOL_KEY] ?? '';
  return [
    ...reasons,
    {
      what: `The Windows nodes that fit the pod have no addresses for pods: ${joined(fitting.map(({ name }) => name))}.`,
      command: `kubectl windowspool status ${pool}`.trim(),
    },
  ];
}

/** Why the pod is not scheduled. A user who may read the pod may not always read its events. */
function unscheduledIn({ status }: Wire<V1Pod>): string | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' ? scheduled.message || undefined : undefined;
}

function misfitOf({ spec }: Wire<V1Pod>, node: NodeRecord): Cause | undefined {
  const pool = node.labels[POOL_KEY];
  const status = pool === undefined ? {} : { command: `kubectl windowspool status ${pool}` };
  for (const [key, value] of Object.entries(spec?.nodeSelector ?? {})) {
    const found = labelIn(node.labels, key);
    if (found === value) continue;
    const remedy =
      key === WINDOWS_BUILD_LABEL
        ? 'Use the RuntimeClass of that pool, or create a pool of the other version.'
        : undefined;
    return {
      what:
        found === undefined
          ? `has no label ${key}=${value}.`
          : `has the label ${key}=${found}, and the pod selects ${value}.`,
      ...(remedy && { remedy }),
    };
  }
  if (node.unschedulable) return { what: 'is cordoned.', ...status };
  if (node.ready !== 'True')
    return { what: node.readyMessage ? `is not Ready: ${sentence(node.readyMessage)}` : 'is not Ready.', ...status };
  const tolerations = (spec?.tolerations ?? []) as readonly Toleration[];
  const [taint] = untolerated(node.taints, tolerations).filter(({ effect }) => effect !== 'PreferNoSchedule');
  if (!taint) return undefined;
  if (isOurs(taint))
    return {
      what: `is not verified: ${sentence(node.verified?.message ?? 'the operator has not verified it yet')}`,
      ...status,
    };
  return {
    what: `has the taint ${describeTaint(taint)}, which the pod does not tolerate.`,
    remedy: tolerationFor(taint),
  };
}

/**
 * Taints that say in which state a node is. A pod that tolerates one starts where it cannot run, or where it is evicted again: of Kubernetes and cloud providers, of
 * NodeReadinessRules, of Karpenter and the cluster-autoscaler, and of CSI drivers and networks that are not ready.
 */
const STATES: readonly (readonly [pattern: RegExp, remedy: string])[] = [
  [
    /^readiness\.k8s\.io\//,
    'A NodeReadinessRule sets it until the node has its conditions. Look at the conditions of the node and at the rule (kubectl get nodereadinessrules).',
  ],
  [
    /^node\.kubernetes\.io\/(?:disk|memory|pid)-pressure$/,
    'The node is low on this resource: remove what uses it, or use larger nodes.',
  ],
  [
    /^karpenter\.sh\/unregistered$/,
    'The node has not joined yet: look at its NodeClaim (kubectl describe nodeclaims).',
  ],
  [
    /^node\.cloudprovider\.kubernetes\.io\/uninitialized$/,
    'The cloud-controller-manager has not initialized the node. If that does not change, look at its log.',
  ],
  [
    /^karpenter\.sh\/|^(?:ToBeDeletedBy|DeletionCandidateOf)ClusterAutoscaler$/,
    'An autoscaler is removing the node: the pod waits for another one.',
  ],
  [
    /^(?:[^/]+\.)?csi\.[^/]+\/|\/agent-not-ready$/,
    'The CSI driver or the agent on the node is not ready: look at its pods on the node.',
  ],
  [
    /^(?!node-(?:role|restriction)\.)(?:[^/]+\.)?(?:kubernetes\.io|k8s\.io)\//,
    'It says in which state the node is: look at its conditions (kubectl describe node).',
  ],
];

/** What to do about a taint that the pod does not tolerate. */
function tolerationFor(taint: Taint): string {
  if (isRegistrationTaint(taint)) return 'Set runtimeClassName: the RuntimeClass of the pool adds the toleration.';
  if (isOtherOsTaint(taint))
    return 'The RuntimeClasses of pools tolerate os=windows:NoSchedule only: add a toleration to the pod, or correct the taint of the nodes.';
  const state = STATES.find(([pattern]) => pattern.test(taint.key));
  return state ? `Do not tolerate it. ${state[1]}` : 'If the pod may run on such nodes, add a toleration.';
}
