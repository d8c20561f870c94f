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

/** The requests of `absent` are not sent. */
function scenario(
  absent: readonly string[],
  { wrong = '', fixtures = ['first', 'second'] } = {},
): { tried: string[]; killed: Promise<readonly string[]> } {
  const tried: string[] = [];
  const run = async (_fixture: string, request: string): Promise<boolean> => {
    tried.push(request);
    if (request === wrong) throw new Error(`${request} went wrong`);
    return !absent.includes(request);
  };
  return { tried, killed: killAtEach({ fixtures, requests, isRepeated, run }) };
}

describe('a scenario with the operator killed at each request', () => {
  it('runs once for each request', async () => {
    assert.deepEqual([...(await scenario([]).killed)].sort(), [...requests].sort());
  });

  it('skips further requests of a kind whose number varies after one of them was not sent', async () => {
    const { tried, killed } = scenario(['PATCH nodes #2'], { fixtures: ['only'] });
    const others = requests.filter((request) => !/PATCH nodes #[23]/.test(request));
    assert.deepEqual(await killed, others);
    assert.deepEqual(tried, requests.slice(0, 3).concat(others.slice(2)));
  });

  for (const [request, why] of [
    ['PATCH nodes #1', 'is the first of its kind'],
    ['Terminate #2', 'comes equally often each time'],
  ] as const) {
    it(`fails when a request is not sent that ${why}`, async () => {
      await assert.rejects(scenario([request]).killed, new Error(`${request} did not come`));
    });
  }

  it('fails with the error of the first failed run, and stops on all fixtures', async () => {
    const { tried, killed } = scenario([], { wrong: 'PUT status #1' });
    await assert.rejects(killed, new Error('PUT status #1 went wrong'));
    assert.ok(!tried.includes('Terminate #2'));
  });
});
