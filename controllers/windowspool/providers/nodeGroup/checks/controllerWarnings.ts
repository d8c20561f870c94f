/** Warnings of the VPC resource controller about nodes without pod addresses, for messages. */

import type { SystemObjects } from '../../../ports/prerequisites.ts';
import { sentence } from '../../../util/words.ts';
import type { CheckFacts } from '../model/checkFacts.ts';
import type { EksState } from '../model/groupState.ts';

/** The number of nodes without addresses whose events are read at each run: the cause is usually the same for all. */
const NODES_ASKED = 3;

/** Reads the warnings about the first few nodes without addresses. */
export function readControllerWarnings(
  { poolNodes }: EksState,
  system: Pick<SystemObjects, 'controllerWarnings'>,
  signal: AbortSignal,
): Promise<NonNullable<CheckFacts['controllerWarnings']>> {
  const nodes = poolNodes.failing
    .filter(({ failures }) => failures.some(({ reason }) => reason === 'NoPodAddresses'))
    .slice(0, NODES_ASKED);
  return Promise.all(
    nodes.map(async ({ node }) => ({ node: node.name, answer: await system.controllerWarnings(node, signal) })),
  );
}

/** `The VPC resource controller reports Unsupported: The instance type x is not supported for Windows.`; undefined when it reports nothing. */
export function controllerWarningOf({ prerequisites }: EksState, node: string): string | undefined {
  const answer = prerequisites?.controllerWarnings?.find((entry) => entry.node === node)?.answer;
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
  const texts = (s.prerequisites?.controllerWarnings ?? []).map(({ node }) => {
    const isFailing = s.poolNodes.failing.some((result) => result.node.name === node);
    return isFailing ? controllerWarningOf(s, node) : undefined;
  });
  return [...new Set(texts)].flatMap((text) => (text ? [` ${text}`] : [])).join('');
}
