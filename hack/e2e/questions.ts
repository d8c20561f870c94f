/** Questions about EKS that no public source answers, but a run on a real account does. */

/** The text of each question. Those of a switch of the local AWS name it. */
export const QUESTIONS = {
  accessWrittenByEks:
    'Which access does EKS give to the node role of a new Windows node group: which type of access entry, which groups in aws-auth?',
  missingAddOnArn: 'DescribeAddon of an add-on that does not exist: 404, or 403, and on which ARN?',
  missingGroupArn: 'DescribeNodegroup of a node group that does not exist: 404, or 403, and on which ARN?',
  registration:
    'Which labels and taints of the node group does a node have in its first watch event, and how long do the others take?',
  olderKubernetesVersion:
    'CreateNodegroup with a Kubernetes version older than that of the cluster: accepted, or refused with which words?',
  unknownRelease: 'UpdateNodegroupVersion to a release that does not exist: refused with which words?',
  releaseParameter:
    'Does SSM have a parameter with JSON about the newest image, with its release_version (switch releaseParameter)?',
  images:
    'Which owner do the public images of EKS for Windows have, how old is the oldest, and how long after its creation is an image deprecated?',
  newestRelease: 'Does EKS accept the release of the newest AMI in SSM?',
  reservedMemory: 'How much memory does the kubelet reserve on a Windows node (capacity less allocatable)?',
  runtimeHandlers: 'Which runtime handlers are in status.runtimeHandlers of a Windows node?',
  scalingGroupTags: 'Which tags do the Auto Scaling group and its instances have?',
  warmPool: 'Does the Auto Scaling group have a warm pool, and do its instances carry the tags of the group?',
  nodeEvents: 'Which events of controllers, such as the VPC resource controller, are on a new Windows node?',
  podWebhook: 'Is the webhook that gives Windows pods their addresses in the cluster (vpc-resource-mutating-webhook)?',
  autoMode: 'Is EKS Auto Mode on, and did a managed Windows node group work beside it?',
  partition: 'Are Windows AMI types accepted outside of the commercial regions?',
  passRoleToAccessEntry: 'Which iam:PassedToService does CreateAccessEntry have?',
  reservedTaints:
    'Does EKS accept taints below startup-taint.cluster-autoscaler.kubernetes.io/ and readiness.k8s.io/ (switch reservedTaints)?',
  customNodeGroup:
    'Which AMI type, release and version does DescribeNodegroup have for a node group whose launch template has an image?',
  kubeletArguments: 'Does the bootstrap of the AMI pass --max-pods to the kubelet?',
  userDataAccount: 'As which account does user data run, and where is its log?',
  settingsOfCustomNodes:
    'Does EKS also give labels and taints of the node group to nodes whose image is in the launch template, and when (switch settingsOfCustomNodes)?',
  templateUpdate:
    'UpdateNodegroupVersion to another version of a launch template with an image: of which type is the update, with which parameters?',
  rolloutGrowth:
    'Does scalingConfig of DescribeNodegroup include the additional instances of a change of version (switch rolloutGrowth)?',
} as const;

/** The name of a question. */
export type QuestionId = keyof typeof QUESTIONS;

/** A question with its answer; with `unknown`, `answer` is the observation. `why` is the reason why there is no answer, or why it is uncertain. */
export interface Answered {
  readonly question: string;
  readonly state: 'answered' | 'not asked' | 'unknown';
  readonly answer?: unknown;
  readonly why?: string;
}

/** The answers of a run. */
export class Answers {
  readonly #given = new Map<QuestionId, Omit<Answered, 'question'>>([
    [
      'passRoleToAccessEntry',
      { state: 'not asked', why: 'CloudTrail does not show it; the run does not call CreateAccessEntry itself.' },
    ],
  ]);

  /** Records an answer; a later one replaces an earlier one. */
  answer(id: QuestionId, answer: unknown, why?: string): void {
    this.#given.set(id, { state: 'answered', answer, ...(why && { why }) });
  }

  /** Records that a question remains open, with the observation. */
  unknown(id: QuestionId, why: string, seen?: unknown): void {
    if (this.#given.get(id)?.state === 'answered') return;
    this.#given.set(id, { state: 'unknown', why, ...(seen !== undefined && { answer: seen }) });
  }

  /** All questions, including those without an answer. */
  all(): Record<QuestionId, Answered> {
    const ids = Object.keys(QUESTIONS) as QuestionId[];
    const entries = ids.map((id) => [
      id,
      { question: QUESTIONS[id], ...(this.#given.get(id) ?? { state: 'not asked' }) },
    ]);
    return Object.fromEntries(entries);
  }
}
