/** Warnings of the VPC resource controller about nodes without pod addresses. */
import type { ControllerAnswer, VerificationResult } from '../../../model/poolNodesView.ts';
import { lacksAddresses, type PoolNodes } from '../../../nodes/poolNodes.ts';
import type { SystemObjects } from '../../../ports/prerequisites.ts';
import { isDeleting } from '../../../rules/poolQueries.ts';
import { sentence } from '../../../util/words.ts';
import type { EksState } from '../model/groupState.ts';

/** The number of nodes without addresses whose events are read at each run: the cause is usually the same for all. */
const NODES_ASKED = 3;

/**
 * Reads the warnings about the first few nodes without addresses: of nodes that fail, at once, and again when AWS is read
 * (`fresh`). Of nodes that are joining, every poll interval, because some errors do not go away.
 */
export async function readControllerWarnings(
  s: EksState,
  poolNodes: PoolNodes,
  fresh: boolean,
  system: Pick<SystemObjects, 'controllerWarnings'>,
  signal: AbortSignal,
): Promise<void> {
  // While a pool is being deleted, nothing needs an explanation.
  if (isDeleting(s.pool)) return;
  const due = withoutAddresses(s).filter((result) => readAt(s, result, fresh) <= s.now);
  await Promise.all(
    due.map(async ({ node }) => poolNodes.reported(node, await system.controllerWarnings(node, signal), s.now)),
  );
}

/** When the warnings about nodes that are joining are read next, in epoch milliseconds; Infinity if there are none. */
export function nextWarningAt(s: EksState): number {
  if (isDeleting(s.pool)) return Number.POSITIVE_INFINITY;
  const times = withoutAddresses(s).map((result) => readAt(s, result));
  return Math.min(...times, Number.POSITIVE_INFINITY);
}

/** The first nodes that fail for want of addresses, and those that join and lack nothing else. */
function withoutAddresses({ poolNodes }: EksState): readonly VerificationResult[] {
  const joining = poolNodes.joining.filter(({ failures }) => failures.length === 1);
  return [...poolNodes.failing, ...joining].filter(lacksAddresses).slice(0, NODES_ASKED);
}

function readAt({ poolNodes, settings, now }: EksState, { node, state }: VerificationResult, fresh = false): number {
  const known = answerAbout(poolNodes, node);
  if (state === 'joining') return (known?.at ?? node.createdAt) + settings.pollMs;
  if (!known) return now;
  return fresh ? known.at + settings.pollMs : Number.POSITIVE_INFINITY;
}

function answerAbout(
  poolNodes: EksState['poolNodes'],
  { name, uid }: VerificationResult['node'],
): ControllerAnswer | undefined {
  const known = poolNodes.controllerAnswer(name);
  return known?.uid === uid ? known : undefined;
}

/** `The VPC resource controller reports Unsupported: The instance type x is not supported for Windows.`; undefined when it reports nothing. */
export function controllerWarningOf({ poolNodes }: EksState, node: string): string | undefined {
  const answer = poolNodes.controllerAnswer(node)?.answer;
  if (!answer) return undefined;
  if (!answer.ok)
    return answer.error.kind === 'denied'
      ? `Events of the VPC resource controller cannot be read: grant ${answer.error.operation}.`
      : undefined;
  if (answer.value.length === 0) return undefined;
  // The message InsufficientCidrBlocks begins with its reason.
  const texts = answer.value.map(({ reason, message }) =>
    message.startsWith(reason) ? message : `${reason}: ${message}`,
  );
  return `The VPC resource controller reports ${sentence(texts.join('; '))}`;
}

/** ` The VPC resource controller reports ...` with each distinct warning about the failing nodes; empty when there are none. */
export function controllerWarnings(s: EksState): string {
  const texts = s.poolNodes.failing.map(({ node }) => controllerWarningOf(s, node.name));
  return [...new Set(texts)].flatMap((text) => (text ? [` ${text}`] : [])).join('');
}
