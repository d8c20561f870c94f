import assert from 'node:assert/strict';
import { killAtEach } from './killAtEach.ts';

const requests = [
  'PUT status #1',
  'PATCH nodes #1',
  'PATCH nodes #2',
  'PATCH nodes #3',
  'Terminate #1',
  'Terminate #2',
];
const isRepeated = (request: string) => request.startsWith('PATCH');

/** The requests of `absent` do not come. */
function play(
  absent: readonly string[],
  { wrong = '', stages = ['first', 'second'] } = {},
): { tried: string[]; killed: Promise<readonly string[]> } {
  const tried: string[] = [];
  const enact = async (_stage: string, request: string): Promise<boolean> => {
    tried.push(request);
    if (request === wrong) throw new Error(`${request} went wrong`);
    return !absent.includes(request);
  };
  return { tried, killed: killAtEach({ stages, requests, isRepeated, enact }) };
}

describe('a play with the operator killed at each request', () => {
  it('is played once for each', async () => {
    assert.deepEqual([...(await play([]).killed)].sort(), [...requests].sort());
  });

  it('is played no more for a kind of request whose number chance says, once one of it has not come', async () => {
    const { tried, killed } = play(['PATCH nodes #2'], { stages: ['only'] });
    const others = requests.filter((request) => !/PATCH nodes #[23]/.test(request));
    assert.deepEqual(await killed, others);
    assert.deepEqual(tried, requests.slice(0, 3).concat(others.slice(2)));
  });

  for (const [request, why] of [
    ['PATCH nodes #1', 'is the first of its kind'],
    ['Terminate #2', 'comes equally often each time'],
  ] as const) {
    it(`fails when a request does not come that ${why}`, async () => {
      await assert.rejects(play([request]).killed, new Error(`${request} did not come`));
    });
  }

  it('fails as the play does, and ends on all stages', async () => {
    const { tried, killed } = play([], { wrong: 'PUT status #1' });
    await assert.rejects(killed, new Error('PUT status #1 went wrong'));
    assert.ok(!tried.includes('Terminate #2'));
  });
});
