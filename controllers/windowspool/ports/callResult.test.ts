import assert from 'node:assert/strict';
import fc from 'fast-check';
import { scrub } from './callResult.ts';

describe('error messages of AWS', () => {
  const ID = '8a2c1f9e-7b1d-4f6a-9c3e-2d5b8e7f6a1c';
  const table: readonly (readonly [string, string])[] = [
    [`Throttled (Service: Eks, Status Code: 429, Request ID: ${ID})`, 'Throttled'],
    [`Throttled. RequestId: ${ID}`, 'Throttled'],
    [`No cluster found for name: x. (Request ID: ${ID}, Host ID: abc)`, 'No cluster found for name: x.'],
    [
      `You are not authorized to perform this operation. Encoded authorization failure message: ${'Ab9_-'.repeat(40)}`,
      'You are not authorized to perform this operation.',
    ],
    ["minSize can't be greater than desiredSize", "minSize can't be greater than desiredSize"],
    ['Subnet (subnet-1) has no free address', 'Subnet (subnet-1) has no free address'],
  ];
  for (const [words, want] of table) it(`${want}`, () => assert.equal(scrub(words), want));

  it('are the same for every attempt', () => {
    const texts = [(id: string) => `Denied (Request ID: ${id})`, (id: string) => `Denied, request id: ${id}`];
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), fc.constantFrom(...texts), (a, b, text) =>
        assert.equal(scrub(text(a)), scrub(text(b))),
      ),
    );
  });
});
