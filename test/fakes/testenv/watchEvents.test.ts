import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Handler, kubeconfig, loopback } from '../../../controllers/kubernetes/testing/loopbackServer.ts';
import { waitFor } from '../../../hack/controlplane/wait.ts';
import { WatchEnded, watchEvents } from './watchEvents.ts';

const pod = (name: string, resourceVersion: string) => ({ metadata: { name, resourceVersion } });
const added = (name: string, version: string) => ({ type: 'ADDED', object: pod(name, version) });
const complete = (resourceVersion: string) => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } } },
});

describe('a watch of the tests', () => {
  /** Watches a server whose watches send these events and end, one after the other; the last one stays open. */
  async function watching(
    streams: readonly (readonly object[])[],
    act: (watch: Awaited<ReturnType<typeof watchEvents>>, seen: string[], versions: () => string[]) => Promise<void>,
  ): Promise<void> {
    let count = 0;
    const answer: Handler = (_, response) => {
      const events = streams[count++] ?? [];
      response.writeHead(200, { 'content-type': 'application/json' });
      for (const event of events) response.write(`${JSON.stringify(event)}\n`);
      if (count < streams.length) response.end();
      else response.flushHeaders();
    };
    await using server = await loopback(answer);
    const folder = await mkdtemp(join(tmpdir(), 'windowspool-watch-'));
    try {
      const path = join(folder, 'kubeconfig');
      await writeFile(path, kubeconfig(server.url, { token: 'secret' }));
      const seen: string[] = [];
      const watch = await watchEvents(path, '/api/v1/pods', ({ object }) => seen.push(object.metadata?.name ?? ''));
      await act(watch, seen, () => server.requests.map(({ query }) => query.resourceVersion ?? ''));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  it('continues from the last event when the server ends the watch of a slow reader', () =>
    watching(
      [[added('a', '3'), complete('7'), added('b', '8')], [added('c', '9')], []],
      async (watch, seen, versions) => {
        await waitFor(() => versions().length === 3, { what: 'the third watch', timeoutMs: 10_000 });
        watch.check();
        assert.deepEqual(
          [seen, versions()],
          [
            ['a', 'b', 'c'],
            ['', '8', '9'],
          ],
        );
        await watch.stop();
      },
    ));

  for (const [what, streams] of [
    ['that ended before all existing objects', [[added('a', '3')], []]],
    ['without events', [[complete('7')], [], []]],
    ['that expired', [[complete('7')], [{ type: 'ERROR', object: { code: 410, message: 'too old' } }], []]],
  ] as const)
    it(`rejects after one ${what}`, () =>
      watching(streams, async (watch) => {
        const isOver = () => {
          try {
            watch.check();
            return false;
          } catch {
            return true;
          }
        };
        await waitFor(isOver, { what: 'the end of the watch', timeoutMs: 10_000 });
        await assert.rejects(watch.stop(), WatchEnded);
      }));
});
