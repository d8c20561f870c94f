import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { AuditEvent } from '../../../test/fakes/testenv/audit.ts';
import {
  type AwsWrite,
  doubleCreations,
  doubleTerminations,
  leaseReport,
  type TimedWrite,
  timedCall,
  timedWrite,
} from './doubleWrites.ts';

const call = (operation: string, input: object, more: Partial<AwsWrite> = {}): AwsWrite => ({
  at: '2026-01-01T00:00:00.000Z',
  operation,
  input,
  userAgent: '',
  result: 'ok',
  isDone: true,
  ...more,
});

describe('second terminations', () => {
  const terminate = (id: string, more: Partial<AwsWrite> = {}) =>
    call('TerminateInstanceInAutoScalingGroup', { InstanceId: id }, more);
  const cases: readonly [string, readonly AwsWrite[], readonly string[]][] = [
    ['are none of different instances', [terminate('i-1'), terminate('i-2')], []],
    ['are none if the second call was rejected', [terminate('i-1'), terminate('i-1', { isDone: false })], []],
    [
      'are found if the response of the first was lost',
      [terminate('i-1', { result: 'reset' }), terminate('i-1')],
      ['i-1: 2 times'],
    ],
  ];
  for (const [what, calls, expected] of cases) it(what, () => assert.deepEqual(doubleTerminations(calls), expected));
});

describe('second node groups', () => {
  const create = (clientRequestToken: string, more: Partial<AwsWrite> = {}) =>
    call('CreateNodegroup', { nodegroupName: 'web', clientRequestToken }, more);
  const remove = call('DeleteNodegroup', { nodegroupName: 'web' });
  const found = ['web at 2026-01-01T00:00:00.000Z'];
  const cases: readonly [string, readonly AwsWrite[], readonly string[]][] = [
    ['are none of a request that is repeated', [create('1'), create('1')], []],
    ['are none after a deletion', [create('1'), remove, create('2')], []],
    ['are none if the second request was rejected', [create('1'), create('2', { isDone: false })], []],
    ['are found if another request creates it', [create('1'), create('2')], found],
    ['are found after a deletion that was rejected', [create('1'), { ...remove, isDone: false }, create('2')], found],
  ];
  for (const [what, calls, expected] of cases) it(what, () => assert.deepEqual(doubleCreations(calls), expected));
});

describe('the report about the lease', () => {
  const lease = (at: number, replica: string): TimedWrite => ({
    kind: 'lease',
    replica,
    text: 'lease',
    at,
    isAccepted: true,
  });
  const write = (at: number, replica: string, isAccepted = true): TimedWrite => ({
    ...{ kind: 'write', replica, text: 'patch nodes x: 200', at, isAccepted },
  });

  it('does not depend on the order of the writes', () => {
    const writes = [lease(0, 'a'), write(1, 'a'), lease(2, 'b'), write(3, 'a'), write(3, 'a', false), write(4, 'b')];
    fc.assert(
      fc.property(fc.shuffledSubarray(writes, { minLength: writes.length }), (shuffled) => {
        assert.deepEqual(leaseReport(shuffled), {
          writes: 4,
          takeovers: 1,
          accepted: ['1970-01-01T00:00:00.003Z a: patch nodes x: 200'],
          unexplained: ['1970-01-01T00:00:00.003Z a: patch nodes x: 200'],
          rejected: ['1970-01-01T00:00:00.003Z a: patch nodes x: 200'],
        });
      }),
    );
  });

  it('explains as many writes as the replica was sending when it was paused, and only at the end of the pause', () => {
    const writes = [lease(0, 'a'), lease(9_000, 'b'), write(10_000, 'a'), write(10_001, 'a'), write(15_000, 'a')];
    const unexplained = (replica: string, requests: number) =>
      leaseReport(writes, [{ replica, at: 10_100, requests }]).unexplained.map((text) => text.slice(17, 23));
    assert.deepEqual(unexplained('a', 1), ['10.001', '15.000']);
    assert.deepEqual(unexplained('a', 3), ['15.000']);
    assert.deepEqual(unexplained('b', 3), ['10.000', '10.001', '15.000']);
  });

  it('accepts a write in the millisecond in which its replica got the lease', () => {
    assert.deepEqual(leaseReport([write(1, 'a'), lease(1, 'a')]).accepted, []);
  });

  it('takes a write to the API server at its arrival, and one of the lease at its completion', () => {
    const event: AuditEvent = {
      ...{ stage: 'ResponseComplete', requestURI: '/', user: { username: 'x' }, responseStatus: { code: 200 } },
      ...{ verb: 'update', requestReceivedTimestamp: '1970-01-01T00:00:01.000000Z' },
      stageTimestamp: '1970-01-01T00:00:02.000000Z',
    };
    const at = (resource: string) => timedWrite({ ...event, objectRef: { resource } }, () => 'a')?.at;
    assert.deepEqual([at('nodes'), at('leases')], [1_000, 2_000]);
    assert.equal(
      timedWrite(event, () => undefined),
      undefined,
    );
  });

  it('counts a call to AWS that took effect as accepted, even if its response was lost', () => {
    const { isAccepted, text } = timedCall(call('DeleteNodegroup', {}, { result: 'reset' }), 'a');
    assert.deepEqual([isAccepted, text], [true, 'DeleteNodegroup: reset']);
  });
});
