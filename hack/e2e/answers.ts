/** Which replies answer a question, and which leave it open. */
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import type { Reply } from './aws.ts';
import type { Answers, QuestionId } from './questions.ts';
import type { Run } from './run.ts';

/** The access of the node role to the cluster. */
export interface Access {
  /** The type of its access entry; undefined: it has none. */
  readonly entryType: string | undefined;
  /** The name of the error if AWS did not answer whether it has one. */
  readonly entryRefusal?: string;
  readonly entryGroups: readonly string[];
  /** Its groups in ConfigMap aws-auth, or why they cannot be read; undefined: it has no entry. */
  readonly awsAuthGroups: readonly string[] | string | undefined;
}

/** A 404 is not an answer: it is returned for either ARN if the policy allows both. */
export function answerDenial(answers: Answers, id: QuestionId, reply: Reply<unknown>, whyNone: string): void {
  if ('output' in reply) {
    answers.unknown(id, 'It exists.');
    return;
  }
  const { kind, name, message } = reply.refusal;
  if (kind === 'denied') answers.answer(id, reply.refusal);
  else answers.unknown(id, kind === 'gone' ? `${name}. ${whyNone}` : `${name}: ${message}`, reply.refusal);
}

/** EKS' reply to a request that it should reject. A denial by IAM leaves the question open. */
export function answerRefusal(answers: Answers, id: QuestionId, reply: Reply<unknown>, asked: object): void {
  if ('output' in reply) {
    answers.answer(id, { ...asked, accepted: true });
    return;
  }
  const { kind, name, message } = reply.refusal;
  if (kind === 'refused' || kind === 'unknown') answers.answer(id, { ...asked, accepted: false, name, message });
  else answers.unknown(id, `${name}: ${message}`);
}

/** Whether EKS accepts the newest release, from a failed update: `UpdateFailed` means that EKS accepted it. */
export function answerFailedUpdate(answers: Answers, release: string, pool: WindowsPool | undefined): void {
  const reasons = ['ReleaseNotOffered', 'UpdateRejected', 'UpdateFailed'];
  const found = pool?.status?.conditions?.find(({ status, reason }) => status === 'False' && reasons.includes(reason));
  if (found === undefined) {
    answers.unknown('newestRelease', 'The update ended without an answer from EKS.');
    return;
  }
  const { reason, message } = found;
  answers.answer('newestRelease', { release, accepted: reason === 'UpdateFailed', reason, message });
}

/** If the role had no access before, EKS wrote it. It is kept, because other node groups may use the role by now. */
export function answerAccess(
  { answers, cleanup, settings, facts, kubectl }: Pick<Run, 'answers' | 'cleanup' | 'settings' | 'facts' | 'kubectl'>,
  before: Access | undefined,
  after: Access,
): void {
  const seen = { authenticationMode: facts?.cluster.accessConfig?.authenticationMode, before, after };
  const hadAccess = before === undefined || hasAccess(before);
  const why = hadAccess
    ? 'The node role had access before the run.'
    : settings.machine
      ? 'The operator creates the access entry of a pool that sets the kubelet.'
      : whyHidden(after);
  if (why === undefined) answers.answer('accessWrittenByEks', seen);
  else answers.unknown('accessWrittenByEks', why, seen);
  if (hadAccess || (why !== undefined && !settings.machine)) return;
  const role = facts?.roleArn ?? '';
  const creator = settings.machine ? 'The operator or EKS' : 'EKS';
  const stays = (what: string, command: string) =>
    cleanup.keep({ what, why: `${creator} created it for the node role and does not delete it.`, commands: [command] });
  if (after.entryType !== undefined)
    stays(
      `access entry of ${role}`,
      `aws eks delete-access-entry --cluster-name ${settings.clusterName} --principal-arn ${role} --region ${settings.region}`,
    );
  if (after.awsAuthGroups !== undefined)
    stays(
      `mapping of ${role} in aws-auth`,
      kubectl.commandLine(['edit', 'configmap', 'aws-auth', '--namespace=kube-system']),
    );
}

/** If the cluster has only aws-auth, EKS returns InvalidRequestException, and there are no access entries. */
const whyHidden = ({ entryRefusal }: Access): string | undefined =>
  entryRefusal === undefined || entryRefusal === 'InvalidRequestException'
    ? undefined
    : `DescribeAccessEntry was refused: ${entryRefusal}.`;

const hasAccess = ({ entryType, awsAuthGroups }: Access): boolean =>
  entryType !== undefined || awsAuthGroups !== undefined;
