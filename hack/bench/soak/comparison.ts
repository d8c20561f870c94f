/** Compares the store of the probe with the API server. */

import { join } from 'node:path';
import { NODE_SELECTOR, nodeListWatch } from '../../../controllers/kubernetes/nodes.ts';
import { waitFor } from '../../controlplane/wait.ts';
import type { BenchCluster } from '../benchCluster.ts';
import { firstDifference, linesIn, linesOf } from '../dump.ts';
import type { ProbeProcess } from './probeProcess.ts';

/** A watch that is silent for 35 s is checked; another minute of backoff may follow a fault. */
const LIMIT_MS = 120_000;
const LIST_MS = 60_000;

/** Waits until the store equals the API server's newest list, object by object. Rejects with the first difference. */
export async function waitForEqualStores(cluster: BenchCluster, probe: ProbeProcess): Promise<number> {
  const list = nodeListWatch(cluster.admin, NODE_SELECTOR, () => false);
  const file = join(cluster.world.controlPlane.dir, 'probe.dump');
  let count = 0;
  let difference: string | undefined;
  const equal = async () => {
    // Listed each time: kwok still sends heartbeats of the nodes of instances.
    const { items } = await list.list({ resourceVersion: '' }, AbortSignal.timeout(LIST_MS));
    await probe.ask(`dump ${file}`);
    count = items.length;
    difference = await firstDifference(linesIn(file), linesOf(items));
    return difference === undefined;
  };
  const explain = () => `The store differs from the API server's list: ${difference}`;
  await waitFor(equal, {
    what: 'the store to equal the API server',
    timeoutMs: LIMIT_MS,
    intervalMs: 1_000,
    explain,
  });
  return count;
}
