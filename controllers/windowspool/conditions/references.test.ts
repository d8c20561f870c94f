import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Condition } from '../api/api.gen.ts';
import type { ConditionState } from '../model/conditions.ts';
import { falseCondition, trueCondition } from './condition.ts';
import { referring, resolved } from './references.ts';

const FAILED =
  'EKS failed to create node group web: NodeCreationFailure. Check the policies of the node role, and the route to the API server.';

const shown = (conditions: Readonly<Record<string, ConditionState>>) =>
  Object.fromEntries(referring(Object.entries(conditions)).map(([type, { message }]) => [type, message]));

describe('the conditions in status', () => {
  it('tell a cause once, in Ready, and the others refer to it; those that kstatus shows alone keep the first sentence', () => {
    assert.deepEqual(
      shown({
        Ready: falseCondition('CreateFailed', `0 of 2 required nodes verified. ${FAILED}`),
        NodeGroupReady: falseCondition('CreateFailed', FAILED),
        NodesVerified: falseCondition('Pending', 'Waiting for the node group.'),
        UpToDate: falseCondition('CreateFailed', `AMI release is old. ${FAILED}`),
        Stalled: trueCondition('CreateFailed', FAILED),
      }),
      {
        Ready: `0 of 2 required nodes verified. ${FAILED}`,
        NodeGroupReady: 'See Ready.',
        NodesVerified: 'Waiting for the node group.',
        UpToDate: 'AMI release is old. See Ready.',
        Stalled: 'EKS failed to create node group web: NodeCreationFailure. See Ready.',
      },
    );
  });

  it('refer to the condition that has a text, if Ready does not have it', () => {
    const { Ready, UpToDate, Reconciling } = shown({
      Ready: trueCondition('EnoughNodesVerified', '3 of 3 nodes verified.'),
      UpToDate: falseCondition('Replacing', `Node group web-2 replaces web. ${FAILED}`),
      Reconciling: trueCondition('Replacing', `Node group web-2 replaces web. ${FAILED}`),
    });
    assert.deepEqual(
      [Ready, UpToDate, Reconciling],
      [
        '3 of 3 nodes verified.',
        `Node group web-2 replaces web. ${FAILED}`,
        'Node group web-2 replaces web. See UpToDate.',
      ],
    );
  });

  it('repeat a short text', () => {
    const text = 'EKS is creating node group web.';
    assert.deepEqual(
      shown({ Ready: falseCondition('Creating', text), NodeGroupReady: falseCondition('Creating', text) }),
      {
        Ready: text,
        NodeGroupReady: text,
      },
    );
  });

  it('that refer to Ready have their whole texts when they are resolved, whatever the texts are', () => {
    const types = ['Ready', 'PrerequisitesMet', 'NodeGroupReady'] as const;
    const text = fc.oneof(fc.constant(FAILED), fc.constant(`${FAILED} $& $1`), fc.string({ maxLength: 90 }));
    fc.assert(
      fc.property(fc.tuple(text, text, text), (texts) => {
        const conditions = types.map((type, i) => [type, falseCondition('CreateFailed', texts[i] ?? '')] as const);
        const status = referring(conditions).map(
          ([type, state]) => ({ ...state, type, lastTransitionTime: '' }) as Condition,
        );
        for (const [i, { message }] of resolved(status).entries()) {
          if (status[i]?.message === 'See Ready.') assert.ok(message.includes(texts[i] ?? ''), message);
        }
      }),
    );
  });
});
