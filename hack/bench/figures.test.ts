import assert from 'node:assert/strict';
import { type Figure, figureOf, goalResult, isWorse, noneOf } from './figures.ts';

const figure = (goal: number, ...runs: number[]): Figure => figureOf({ name: 'time', unit: 'ms', goal }, runs);

describe('a figure', () => {
  for (const [what, of, result] of [
    ['below its goal by more than its spread', figure(100, 80, 82, 84), 'met'],
    ['above its goal by more than its spread', figure(100, 120, 122, 124), 'missed'],
    ['nearer to its goal than its spread', figure(100, 80, 98, 110), 'undecided'],
    ['of one run', figure(100, 98), 'met'],
    ['that must not exist', noneOf('lost events', 1), 'missed'],
  ] as const)
    it(`${what} is ${result}`, () => assert.equal(goalResult(of), result));

  it('without a goal has no result', () => {
    assert.equal(goalResult({ name: 'time', unit: 'ms', value: 1 }), undefined);
  });

  for (const [what, now, before, worse] of [
    ['greater by more than both spreads', figure(0, 120, 122, 124), figure(0, 100, 101, 102), true],
    ['greater by less than both spreads', figure(0, 100, 110, 120), figure(0, 95, 100, 105), false],
    ['smaller', figure(0, 80, 81, 82), figure(0, 100, 101, 102), false],
    ['of one run', { name: 'time', unit: 'ms', value: 200 }, figure(0, 100, 101, 102), false],
    ['that must not exist and does', noneOf('lost events', 1), noneOf('lost events', 0), true],
  ] as const)
    it(`${what} is ${worse ? '' : 'not '}worse than the recorded one`, () =>
      assert.equal(isWorse(now as Figure, before), worse));
});
