import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { V1Deployment } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { recordedSections } from './report.ts';

const MEBIBYTE = 2 ** 20;
/** The garbage collector needs room, and a burst of events is buffered. */
const ROOM = 3;

const deployment = parse(read('../../config/manager/deployment.yaml')) as V1Deployment;
const { requests, limits } = deployment.spec?.template.spec?.containers[0]?.resources ?? {};
const recorded = await recordedSections();

describe('the memory of the Deployment', () => {
  it('covers 50 pools with its request', () => {
    assert.ok(
      megabytesOf(requests?.memory) >= greatest('provision', /^memory \(RSS\) after the creation of 50 pools$/),
    );
  });

  it('is limited to three times the peak with 10,000 nodes', () => {
    assert.ok(megabytesOf(limits?.memory) >= ROOM * greatest('scale', /10,000 nodes in 30 pools: peak memory$/));
  });

  it('of 10,000 nodes or 1,000 pools is covered by the request on the page', () => {
    const [, amount] =
      /With 10,000\s+nodes or 1,000 pools, request (\d+Mi)\./.exec(read('../../docs/reference/performance.md')) ?? [];
    const needed = [
      greatest('scale', /10,000 nodes in 30 pools: memory/),
      greatest('settled', /^1,000 pools .*: memory/),
    ];
    assert.ok(megabytesOf(amount) >= Math.max(...needed));
  });
});

function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');
}

/** The greatest value of the runs of a recorded figure. */
function greatest(section: string, name: RegExp): number {
  const figure = recorded[section]?.figures.find((each) => name.test(each.name));
  if (figure === undefined)
    throw new Error(`hack/bench/record.json has no figure ${name}. Run make bench and node hack/bench/page.ts.`);
  return figure.spread?.high ?? figure.value;
}

function megabytesOf(amount = ''): number {
  const [, mebibytes] = /^(\d+)Mi$/.exec(amount) ?? [];
  return (Number(mebibytes) * MEBIBYTE) / 1e6;
}
