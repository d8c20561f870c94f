/** Faults that EKS reports in a known form, in fewer words than its own. Pure. */

import { count, joined } from '../../../util/words.ts';

/** A fault of an update, or a health issue of a node group, as EKS reports it. */
interface Fault {
  readonly code: string;
  readonly message: string;
  readonly resourceIds: readonly string[];
}

/** How many instances are named. */
const MOST = 5;

const FORMS: readonly { code: string; form: RegExp; inWords: (ids: readonly string[]) => string }[] = [
  {
    code: 'NodeCreationFailure',
    // https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html#worker-node-fail
    form: /^instances failed to join the (?:kubernetes )?cluster\.?$/i,
    inWords: (ids) => `instance${ids.length === 1 ? '' : 's'} ${joined(ids, MOST)} did not join the cluster`,
  },
  {
    code: 'PodEvictionFailure',
    // https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html
    form: /^reached max retries while trying to evict pods from nodes in node group \S{1,128}$/i,
    inWords: (ids) => `${count(ids.length, 'node')} ${ids.length === 1 ? 'was' : 'were'} not drained`,
  },
];

/** `instance i-1 did not join the cluster (NodeCreationFailure)`; undefined for a fault that EKS reports in another form, or of which it names no object. */
export function faultInWords({ code, message, resourceIds }: Fault): string | undefined {
  const known = resourceIds.length > 0 && FORMS.find((each) => each.code === code && each.form.test(message.trim()));
  return known ? `${known.inWords(resourceIds)} (${code})` : undefined;
}
