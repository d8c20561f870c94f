import assert from 'node:assert/strict';
import fc from 'fast-check';
import { failureOfStatus, statusOfBody } from './status.ts';
import { each, envelope, message } from './testing/protobufWriter.ts';

const text = fc.string({ unit: 'grapheme' });
const anyStatus = fc.record(
  {
    kind: fc.constant('Status'),
    status: fc.constantFrom('Failure', 'Success'),
    message: text,
    reason: fc.constantFrom('Expired', 'Timeout', 'Forbidden'),
    code: fc.nat({ max: 999 }),
    details: fc.record(
      {
        name: text,
        retryAfterSeconds: fc.nat(),
        causes: fc.array(
          fc.record({ reason: text, message: text, field: text }, { requiredKeys: [], noNullPrototype: true }),
          { maxLength: 3 },
        ),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
  },
  { requiredKeys: ['kind'], noNullPrototype: true },
);
type AnyStatus = typeof anyStatus extends fc.Arbitrary<infer S> ? S : never;

/** Field numbers of k8s.io/apimachinery v0.36 meta/v1 (generated.proto). */
function inProtobuf({ status, message: words, reason, details, code }: AnyStatus): Buffer {
  const causes = each(4, details?.causes, ({ reason: why, message: said, field }) =>
    message([1, why], [2, said], [3, field]),
  );
  const inside = message([1, details?.name], ...causes, [5, details?.retryAfterSeconds ?? 0]);
  return envelope(
    'v1',
    'Status',
    message([1, message()], [2, status], [3, words], [4, reason], [5, details && inside], [6, code ?? 0]),
  );
}

describe('the Status in the body of an error', () => {
  it('is the same in protobuf and in JSON', () => {
    fc.assert(
      fc.property(anyStatus, (status) => {
        const json = statusOfBody(Buffer.from(JSON.stringify(status)));
        assert.ok(json);
        assert.deepEqual(statusOfBody(inProtobuf(status)), json);
      }),
    );
  });

  it('is converted to the failure of the engine', () => {
    const failure = (status: object) => {
      const found = statusOfBody(Buffer.from(JSON.stringify({ kind: 'Status', ...status })));
      return found && failureOfStatus(found);
    };
    const details = { retryAfterSeconds: 2, causes: [{ reason: 'ResourceVersionTooLarge' }, { message: 'm' }] };
    assert.deepEqual(failure({ code: 504, reason: 'Timeout', details }), {
      status: 504,
      reason: 'Timeout',
      causes: ['ResourceVersionTooLarge'],
      retryAfterMs: 2_000,
    });
    assert.deepEqual(failure({}), { status: undefined, reason: undefined, causes: [], retryAfterMs: undefined });
  });

  const others: [what: string, body: Buffer][] = [
    ['an empty body', Buffer.alloc(0)],
    ['an HTML page', Buffer.from('<html>')],
    ['another JSON', Buffer.from('{"kind":"Node"}')],
    ['JSON that is not an object', Buffer.from('null')],
    ['another object in protobuf', envelope('v1', 'Node', message())],
    ['a truncated Status in protobuf', envelope('v1', 'Status', message([3, 'words'])).subarray(0, 25)],
  ];
  for (const [what, body] of others) {
    it(`is not found in ${what}`, () => {
      assert.equal(statusOfBody(body), undefined);
    });
  }
});
