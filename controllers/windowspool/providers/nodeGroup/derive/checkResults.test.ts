import assert from 'node:assert/strict';
import type { PrerequisitesRecord, WindowsPoolStatus } from '../../../api/api.gen.ts';
import { knownStatus, NOW, sampleNode, samplePool, sampleState } from '../../../testing/fixtures.ts';
import type { Scope } from '../model/checkFacts.ts';

describe('the prerequisites of a pool', () => {
  const lost = sampleNode({ name: 'ip-1', uid: 'uid-1', ready: 'False', createdAt: NOW - 3_600_000 });
  const others = [2, 3].map((i) => sampleNode({ name: `ip-${i}`, uid: `uid-${i}` }));
  const entry = {
    name: 'ip-1',
    uid: 'uid-1',
    instanceID: 'i-1',
    operation: 'Replace',
    startTime: '2026-03-01T11:58:00Z',
  };
  const disruption = { reason: 'NodeReplacement' as const, startTime: '2026-03-01T11:58:00Z', nodes: [entry] };
  const scope = (status: object, nodes = [lost, ...others]) =>
    sampleState({ pool: samplePool({}, { status: { ...knownStatus(), ...status } as never }), nodes }).due.prerequisites
      .scope;

  it('are all read while a node is NotReady, and not if the operator terminates this node', () => {
    assert.deepEqual([scope({}), scope({ disruption })], ['complete', 'standing']);
  });

  const recorded = (prerequisites: PrerequisitesRecord) => ({ tracking: { prerequisites } });
  const cases: readonly (readonly [string, WindowsPoolStatus, Scope])[] = [
    ['only those that others can change, while the last report was that all are met', {}, 'standing'],
    ['all, after any other report', recorded({ result: 'NotMet' }), 'complete'],
    ['all, after a report with remarks', recorded({ result: 'Remarked', remarks: 'hash' }), 'complete'],
    ['all, after a failed call', recorded({ result: 'Unavailable', since: '2026-03-01T11:00:00Z' }), 'complete'],
    [
      'all, after a report that only the list records',
      {
        checks: [{ name: 'a-linux-node', severity: 'Required', status: 'NotMet', reason: 'NoLinuxNode', message: 'x' }],
      },
      'complete',
    ],
    [
      'only those that others can change, with advice',
      { checks: [{ name: 'coredns', severity: 'Advice', status: 'NotMet', reason: 'DnsOnOneNode', message: 'x' }] },
      'standing',
    ],
  ];
  for (const [what, status, want] of cases) it(`are read: ${what}`, () => assert.equal(scope(status, others), want));
});
