import assert from 'node:assert/strict';
import type { AuditEvent } from './audit.ts';
import { type ReplicaWrite, replicaWrite, writesWithoutLease } from './leaseHolder.ts';

const event = (verb: string, resource: string, code: number, more: Partial<AuditEvent> = {}): AuditEvent => ({
  stage: 'ResponseComplete',
  verb,
  requestURI: '/',
  user: { username: 'operator' },
  objectRef: { resource, name: 'x' },
  responseStatus: { code },
  ...more,
});
const lease = (holderIdentity: string) => ({ requestObject: { spec: { holderIdentity } } });

describe('a request of a replica in the audit log', () => {
  const cases: readonly [string, AuditEvent, ReplicaWrite['kind'] | undefined][] = [
    ['takes the lease by creating it', event('create', 'leases', 201, lease('a_1')), 'lease'],
    ['renews the lease', event('update', 'leases', 200, lease('a_1')), 'lease'],
    ['takes the lease if its body is not recorded', event('update', 'leases', 200), 'lease'],
    ['releases the lease by an empty holder', event('update', 'leases', 200, lease('')), 'release'],
    ['releases the lease by no holder', event('update', 'leases', 200, { requestObject: { spec: {} } }), 'release'],
    ['does nothing to the lease if it is rejected', event('update', 'leases', 409, lease('a_1')), undefined],
    ['does nothing to the lease by reading it', event('get', 'leases', 200), undefined],
    ['is a write of the leader', event('patch', 'nodes', 200), 'write'],
    ['is a write of the leader even if it is rejected', event('patch', 'nodes', 409), 'write'],
    ['is a read', event('list', 'nodes', 200), undefined],
    ['is a review, which every replica requests', event('create', 'tokenreviews', 201), undefined],
  ];
  for (const [what, request, kind] of cases)
    it(what, () => {
      assert.equal(replicaWrite(request, 'a')?.kind, kind);
    });

  it('is described by its verb, object and response', () => {
    assert.equal(replicaWrite(event('patch', 'nodes', 200), 'a')?.text, 'patch nodes x: 200');
  });
});

describe('the writes without the lease', () => {
  /** `a lease`, `b write 1`. */
  const parse = (line: string): ReplicaWrite => {
    const [replica = '', kind = '', text = ''] = line.split(' ');
    return { replica, kind: kind as ReplicaWrite['kind'], text };
  };
  const cases: readonly [string, readonly string[], readonly string[]][] = [
    ['are none of the holder', ['a lease', 'a write 1', 'a lease', 'a write 2'], []],
    ['are those before the lease was first written', ['a write 1', 'a lease'], ['1']],
    ['are those of a former holder', ['a lease', 'b lease', 'a write 1', 'b write 2'], ['1']],
    ['are those after a release', ['a lease', 'a release', 'a write 1'], ['1']],
    ['are none of a replica that leads again', ['a lease', 'b lease', 'a lease', 'a write 1'], []],
  ];
  for (const [what, lines, expected] of cases)
    it(what, () => {
      assert.deepEqual(
        writesWithoutLease(lines.map(parse)).map(({ text }) => text),
        expected,
      );
    });
});
