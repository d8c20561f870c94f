import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { loopback } from './testing/loopbackServer.ts';
import { Flow } from './turns.ts';

describe('a stream', () => {
  const MiB = 1024 * 1024;
  const cases: {
    flows: string;
    pieces: readonly (readonly [at: number, bytes: number])[];
    calm: readonly boolean[];
  }[] = [
    {
      flows: 'high throughput from the start',
      pieces: Array.from({ length: 30 }, (_, i) => [i * 10, MiB / 4] as const),
      calm: Array.from({ length: 30 }, () => false),
    },
    {
      flows: 'low throughput after its first window',
      pieces: [
        [0, 10_000],
        [50, 10_000],
        [110, 10_000],
        [150, 10_000],
        [5_000, 10_000],
      ],
      calm: [false, false, true, true, true],
    },
    {
      flows: 'a burst after it was calm',
      pieces: [
        [0, 10],
        [200, 10],
        [210, MiB],
        [220, 10],
        [300, 10],
        [420, 10],
      ],
      calm: [false, true, false, false, false, true],
    },
  ];
  for (const { flows, pieces, calm } of cases) {
    it(`with ${flows} is read in turns only while it is calm`, () => {
      const flow = new Flow();
      assert.deepEqual(
        pieces.map(([at, bytes]) => flow.isCalm(bytes, at)),
        calm,
      );
    });
  }

  it('yields every byte in order, in fewer chunks than arrived', async () => {
    const sent = Array.from({ length: 120 }, (_, index) => `event ${index};`);
    await using server = await loopback(async (_, response) => {
      for (const event of sent) {
        response.write(event);
        await sleep(3);
      }
      // More than the socket buffers hold, after a calm period.
      response.end(Buffer.alloc(8 * MiB, 'x'));
    });
    const pieces: Buffer[] = [];
    const started = performance.now();
    const signal = AbortSignal.timeout(40_000);
    for await (const piece of server.client.stream('/x', { accept: 'text/plain', signal }))
      pieces.push(Buffer.from(piece));
    const text = Buffer.concat(pieces).toString();
    assert.ok(text === sent.join('') + 'x'.repeat(8 * MiB), 'every byte came once');
    const calm = pieces.filter((piece) => piece.toString().startsWith('event')).length;
    // One for each turn of 20 ms, plus those before the stream was known to be calm. A slow machine sends less in a turn.
    const most = (performance.now() - started) / 20 + 60;
    assert.ok(calm < most, `${calm} pieces for ${sent.length} events, at most ${most}`);
  });
});
