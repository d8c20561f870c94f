/** JSON that is not what a reader expects. */
import fc from 'fast-check';

/** Any JSON, and values that readers may not expect. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom('', '\u001b[2J\n\u202e', -1, 1e300, 2 ** 53, 'x'.repeat(5_000)),
  fc.constantFrom('10000-01-01T00:00:00Z', '1969-07-20T20:17:40Z'),
  // Keys that an object literal cannot have.
  fc
    .constantFrom('{"__proto__":{"name":"x"}}', '{"":"","constructor":[],"__proto__":null}')
    .map((text) => JSON.parse(text)),
);

/** These values, each with another value in one place. */
export function spoilt<T extends object>(values: fc.Arbitrary<T>, value = anyJson): fc.Arbitrary<unknown> {
  return fc
    .tuple(values, fc.infiniteStream(fc.nat()), value)
    .map(([whole, choices, other]) => withOther(structuredClone(whole), choices, other));
}

function withOther(whole: object, choices: fc.Stream<number>, value: unknown): unknown {
  const next = (): number => choices.next().value ?? 0;
  for (let place = whole; ; ) {
    const keys = Object.keys(place);
    const key = keys[next() % keys.length];
    if (key === undefined) return whole;
    const inner: unknown = place[key as never];
    if (typeof inner !== 'object' || inner === null || next() % 4 === 0) {
      // An assignment to __proto__ would not add a key.
      Object.defineProperty(place, key, { value, enumerable: true, configurable: true, writable: true });
      return whole;
    }
    place = inner;
  }
}
