/** The operator's cache of nodes as a process with commands: `dump FILE` or `memory` on a line, with a line of JSON as the response. */
import { createInterface } from 'node:readline';
import { dump } from '../dump.ts';
import { startNodeCache } from '../nodeCache.ts';
import { memoryOf } from '../processFigures.ts';

const counts = { lists: 0, watches: 0, failures: 0, events: 0 };
const cache = await startNodeCache(
  { kubeconfigPath: process.argv[2] },
  {
    hooks: {
      listed: () => counts.lists++,
      watchStarted: () => counts.watches++,
      failed: () => counts.failures++,
      events: (count) => {
        counts.events += count;
      },
    },
  },
);

for await (const line of createInterface({ input: process.stdin })) {
  const [command, file = ''] = line.split(' ');
  if (command === 'dump') await dump(file, cache.store.list());
  // Only memory that is still used after a garbage collection can be a leak.
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  console.log(
    JSON.stringify({ ...counts, heapKiB: heapUsed / 1024, externalKiB: external / 1024, ...memoryOf('self') }),
  );
}
await cache.stop();
