/** The operator's cache of nodes as a program: prints one line when it is synced. */
import { startNodeCache } from '../nodeCache.ts';
import { printSynced, readArguments, writeDump } from './program.ts';

const { serviceAccountDir, started, images, dump } = readArguments();
const cache = await startNodeCache({ serviceAccountDir }, { readsImages: images });
await cache.store.synced;
printSynced(started, cache.store.size);
await writeDump(dump, () => cache.store.list());
await cache.stop();
