/** What the VPC resource controller says of nodes that have no addresses for pods, for messages. Pure. */
import type { ObservedState } from '../model/observedState.ts';
import { sentence } from '../util/words.ts';

/** `The VPC resource controller reports Unsupported: The instance type x is not supported for Windows.`; undefined when it reports nothing. */
export function controllerWarningOf({ prerequisites }: ObservedState, node: string): string | undefined {
  const answer = prerequisites?.controllerWarnings?.find((entry) => entry.node === node)?.answer;
  if (!answer) return undefined;
  if (!answer.ok)
    return answer.error.kind === 'denied'
      ? `Events of the VPC resource controller cannot be read: grant ${answer.error.operation}.`
      : undefined;
  if (answer.value.length === 0) return undefined;
  // The message of a lack of blocks begins with its reason.
  const texts = answer.value.map(({ reason, message }) =>
    message.startsWith(reason) ? message : `${reason}: ${message}`,
  );
  return `The VPC resource controller reports ${sentence(texts.join('; '))}`;
}

/** ` The VPC resource controller reports ...`, each once, of the failing nodes; empty when it reports nothing. */
export function controllerWarnings(s: ObservedState): string {
  const texts = (s.prerequisites?.controllerWarnings ?? []).map(({ node }) => {
    const isFailing = s.poolNodes.failing.some((result) => result.node.name === node);
    return isFailing ? controllerWarningOf(s, node) : undefined;
  });
  return [...new Set(texts)].flatMap((text) => (text ? [` ${text}`] : [])).join('');
}
