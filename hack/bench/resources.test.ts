import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { megabytesOf, shippedMemory } from '../shipped.ts';
import { recordedSections } from './report.ts';

/** The garbage collector needs room, and a burst of events is buffered. */
const ROOM = 3;

const PAGE = fileURLToPath(new URL('../../docs/reference/performance.md', import.meta.url));
const { requestMB, limitMB } = shippedMemory();
const recorded = await recordedSections();

describe('the memory of the Deployment', () => {
  it('covers 50 pools with its request', () => {
    assert.ok(requestMB >= greatest('provision', /^memory \(RSS\) after the creation of 50 pools$/));
  });

  it('is limited to three times the peak with 10,000 nodes', () => {
    assert.ok(limitMB >= ROOM * greatest('scale', /10,000 nodes in 30 pools: peak memory$/));
  });

  it('of 10,000 nodes or 1,000 pools is covered by the request on the page', () => {
    const [, amount] = /With 10,000\s+nodes or 1,000 pools, request (\d+Mi)\./.exec(readFileSync(PAGE, 'utf8')) ?? [];
    const needed = [
      greatest('scale', /10,000 nodes in 30 pools: memory/),
      greatest('settled', /^1,000 pools .*: memory/),
    ];
    assert.ok(megabytesOf(amount) >= Math.max(...needed));
  });
});

/** The greatest value of the runs of a recorded figure. */
function greatest(section: string, name: RegExp): number {
  const figure = recorded[section]?.figures.find((each) => name.test(each.name));
  if (figure === undefined)
    throw new Error(`hack/bench/record.json has no figure ${name}. Run make bench and node hack/bench/page.ts.`);
  return figure.spread?.high ?? figure.value;
}
