/** Descriptions of changes of taints, labels and tags, for status.pendingSteps and events. */

import type { TaintChange } from '../model/poolNodesView.ts';
import type { Taint } from '../ports/nodes.ts';

/** `set gpu:NoSchedule remove old:NoExecute`: a taint is identified by key and effect. */
export function describeTaints({ set, remove }: TaintChange): string {
  const named = ({ key, effect }: Taint) => `${key}:${effect}`;
  return setAndRemove(set.map(named), remove.map(named));
}

/** `set a, b remove c`; empty when there is nothing to set or remove. */
export function setAndRemove(set: readonly string[], remove: readonly string[]): string {
  const list = (verb: string, names: readonly string[]) => (names.length > 0 ? [`${verb} ${names.join(', ')}`] : []);
  return [...list('set', set), ...list('remove', remove)].join(' ');
}
