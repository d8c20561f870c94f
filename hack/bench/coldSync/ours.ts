/** The operator's cache of nodes as a program: prints one line when it is synced. */
import { parseArgs } from 'node:util';
import { dump } from '../dump.ts';
import { startNodeCache } from '../nodeCache.ts';
import { memoryOf } from '../processFigures.ts';

/** One line of JSON; baseline/main.go prints the same. */
export interface Synced {
  /** From the start of the process to the first complete list in the store. */
  readonly ms: number;
  /** CPU time of all threads until then. */
  readonly cpuMs: number;
  readonly peakKiB: number;
  readonly items: number;
}

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    'service-account-dir': text,
    /** When the process was started, in epoch milliseconds. */
    started: text,
    /** The file for the content of the store. */
    dump: text,
    /** Keeps the images of nodes. */
    images: { type: 'boolean' },
  },
});
const { 'service-account-dir': serviceAccountDir, started, images = false } = values;
const cache = await startNodeCache({ serviceAccountDir }, { readsImages: images });
await cache.store.synced;
const ms = performance.timeOrigin + performance.now() - Number(started);
const { user, system } = process.cpuUsage();
const { peakKiB } = memoryOf('self');
const synced: Synced = { ms, cpuMs: (user + system) / 1_000, peakKiB, items: cache.store.size };
console.log(JSON.stringify(synced));
if (values.dump !== undefined) await dump(values.dump, cache.store.list());
await cache.stop();
