import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { loopback } from './testing/loopbackServer.ts';
import { Flow } from './turns.ts';

describe('a stream', () => {
  const MiB = 1024 * 1024;
  const cases: {
    flows: string;
    pieces: readonly (readonly [at: number, bytes: number])[];
    steady: readonly boolean[];
  }[] = [
    {
      flows: 'high throughput from the start',
      pieces: Array.from({ length: 30 }, (_, i) => [i * 10, MiB / 4] as const),
      steady: Array.from({ length: 30 }, () => false),
    },
    {
      flows: 'a few events',
      pieces: [
        [0, 10_000],
        [50, 10_000],
        [110, 10_000],
        [150, 10_000],
        [5_000, 10_000],
      ],
      steady: [false, false, false, false, false],
    },
    {
      flows: 'many events after its first window',
      pieces: [
        [0, 100_000],
        [50, 100_000],
        [110, 100_000],
        [150, 100_000],
        [5_000, 100_000],
      ],
      steady: [false, false, true, true, false],
    },
    {
      flows: 'a burst after it was steady',
      pieces: [
        [0, MiB / 4],
        [100, 10],
        [110, MiB],
        [120, 10],
        [200, 10],
        [320, 10],
      ],
      steady: [false, true, false, false, false, false],
    },
  ];
  for (const { flows, pieces, steady } of cases) {
    it(`with ${flows} is read in turns only while it is steady`, () => {
      const flow = new Flow();
      assert.deepEqual(
        pieces.map(([at, bytes]) => flow.isSteady(bytes, at)),
        steady,
      );
    });
  }

  it('yields every byte in order, in fewer chunks than arrived', async () => {
    const sent = Array.from({ length: 120 }, (_, index) => `event ${index}${' '.repeat(6_000)};`);
    await using server = await loopback(async (_, response) => {
      for (const event of sent) {
        response.write(event);
        await sleep(3);
      }
      // More than the socket buffers hold, after a steady period.
      response.end(Buffer.alloc(8 * MiB, 'x'));
    });
    const pieces: Buffer[] = [];
    const started = performance.now();
    const signal = AbortSignal.timeout(40_000);
    for await (const piece of server.client.stream('/x', { accept: 'text/plain', signal }))
      pieces.push(Buffer.from(piece));
    const text = Buffer.concat(pieces).toString();
    assert.ok(text === sent.join('') + 'x'.repeat(8 * MiB), 'every byte came once');
    const steady = pieces.filter((piece) => piece.toString().startsWith('event')).length;
    // One for each turn of 20 ms, plus those before the stream was known to be steady. A slow machine sends less in a turn.
    const most = (performance.now() - started) / 20 + 60;
    assert.ok(steady < most, `${steady} pieces for ${sent.length} events, at most ${most}`);
  });
});
