import assert from 'node:assert/strict';
import { assertNames, namesAll } from '../messages.ts';

describe('the names in a message', () => {
  const message = 'Node web-2 runs 10.0.20348 (1.5), expected 12. Set spec.web, or run: kubectl describe node web-2.';
  const rows: readonly (readonly [name: string | RegExp, found: boolean])[] = [
    ['Node web-2', true],
    ['web', false],
    ['web-2', true],
    ['12', true],
    ['2', false],
    ['1.5', true],
    ['5', false],
    ['10.0', false],
    ['10.0.20348 (1.5)', true],
    ['spec.web', true],
    ['kubectl describe node web-2', true],
    ['Node.web-2', false],
    [/^Node .* 12\b/, true],
    [/^web/, false],
  ];
  for (const [name, found] of rows)
    it(`${found ? 'are' : 'are not'} ${name}`, () => assert.equal(namesAll(message, name), found));

  it('are listed if they are missing', () => {
    assertNames(message, 'web-2', '12');
    assert.throws(() => assertNames(message, 'web-2', 'web-3'), /not in the message: Node web-2 runs/);
    assert.throws(() => assertNames(undefined, 'web-2'));
  });
});
