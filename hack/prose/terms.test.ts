import assert from 'node:assert/strict';
import { findTerms } from './terms.ts';

/** What is found, in square brackets. */
const WRONG = `
The status shows [what is so in] EKS. It waits until the items [were so.]
UpToDate [tells of] it, and errors are [told of].
[Put it right]. The tags were [put right] at once. [Set right] what differs.
[Put the spec right], or [put the group or the template right].
[Mend] what EKS names. The update [mends] it.
It is made [anew].
The node [shall] stay.
It is tried again [by itself]. Bad nodes are replaced [by themselves].
The update [stops of itself].
Drain and [end the node]. EKS [ends instances] then. The operator may [end a node].
The instance of any other is never ended. The [instances are ended]. The [node has been ended].
Grant the [rights] to the role.
It lacks [the right to list] nodes.
[Grant the right that] the message [names the right.]
[Take the annotation away]. Nodes are [taken away]. The taint is [taken from them away].
The turn is [given back], and [gives it back].
[Somebody else] made it, or [whoever] may, or [somebody].
Pods [which nobody] recreates.
It breaks [now and then] and works [after a while].
Refused with [the way out]: another pool.
A group [that is there already], which [it was there before].
The state [stands in] status, and a type [stands here].
AWS [is looked at] again, and a group [is not looked at].
The [operator looks at] each field.
It is read at [each look], before the [first look].
It has never been [judged]. Nodes [by verdict].
[The wish] of the pool, a group as [wished].
Nodes that [EKS wants]. The [pool wants] none.
The size that [is wanted], and everything [as wanted].
Capacity is [dear].
A policy [of your own].
The names of [your things].
An [expected trouble] is a value.
It is the [pool's matter].
When [you are woken] up.
EKS [knows no] cluster.
The operator [thinks nothing] of them.
It [puts up with] taints.
A node [is not believed].
[Everything away] again.
They take [each other's place].
Nodes [are born] with a taint.
It complains [for ever].
`;

const RIGHT = `
It is so new that it has no conditions. If that is so, wait. What is so special about it?
You are told about errors. It tells the operator what to do.
It is put right after the call, and the pods are put right there. Put pods on the right node. Set the right value.
A recommended amendment. We amend the commit.
A label by itself does not move pods. That is not enough by itself. A slash (/) by itself or a string. It must appear by itself as the first label. The counters are not allocatable by themselves. A copy of itself. Each rule by itself is tested.
Paths that end in nodes. An end node, or the start and the end node. In the end the node is Ready. At its end nodes are gone. The front-end nodes. The end of the node. Depending on the node. The update ended.
All rights reserved. The user rights of Windows. The right build. Text from right to left. You have the right to submit it. The button on the right to open it.
It has the right name, without the right build. Grant the right role.
It takes away the need to restart. It takes nodes in two ways. Takeaways.
It gives control back to the caller. Feedback is given. It gave the back end a name.
Someone. The user nobody. A port that nobody uses.
For a while. Every now. Then and now.
The way out of the network is a NAT gateway. It is on its way out.
Is there already a pool? There are nodes before that.
Version 5 stands for the newest. A second operator stands by. A server stands in for AWS. The default stands.
Look at the log. A person looks at the dashboard. Look and feel. It looks for pods. The first looks at the cache.
Judging by the log, it works.
If you wish to, set it. They do not wish to share it. What volumes it wants. A user wants a pool. Wanted: a maintainer.
A RuntimeClass of its own. Your own policy.
The right thing. It is a matter of minutes. It does not matter. It matters. Troubleshooting.
A watcher is woken. It knows nothing. It is believed to be safe.
It is put up for review. Move away. For every node.
`;

describe('the words that the Kubernetes documentation does not use', () => {
  for (const line of WRONG.trim().split('\n'))
    it(`are found: ${line}`, () => {
      const found = findTerms(line.replace(/[[\]]/g, '')).map((finding) => finding.found);
      assert.deepEqual(found.sort(), [...line.matchAll(/\[([^\]]+)\]/g)].map(([, expected]) => expected).sort());
    });

  for (const line of RIGHT.trim().split('\n'))
    it(`are not found in correct English: ${line}`, () => assert.deepEqual(findTerms(line), []));

  it('are found across the lines of a comment', () => {
    assert.deepEqual(findTerms('/**\n * It is\n * looked at.\n */'), [
      { line: 2, found: 'is looked at', instead: 'polled, read, checked' },
    ]);
  });

  it('are not found in names of files', () => {
    assert.deepEqual(findTerms('test/rights.last.ts, docs/rights.md and ./anew/a.ts'), []);
  });
});
