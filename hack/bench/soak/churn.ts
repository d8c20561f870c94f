/** The constant changes of existing nodes: heartbeats, changes, nodes that are deleted and registered, nodes that change their pool. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchCluster } from '../benchCluster.ts';
import { conditions, groupName, kernelVersion, REVISION } from '../nodeObject.ts';
import { POOL_LABEL } from './poolSpecs.ts';

const PAUSE_MS = 20;
const AFTER_ERROR_MS = 500;

export interface Churn {
  readonly done: number;
  /** Writes that failed because the API server was unavailable. */
  readonly failed: number;
}

/** Changes the cluster until the signal aborts. Never rejects, because the API server is sometimes unavailable. */
export async function churn(cluster: BenchCluster, signal: AbortSignal): Promise<Churn> {
  let done = 0;
  let failed = 0;
  for (let turn = 0; !signal.aborted; turn++) {
    try {
      await change(cluster, turn);
      done++;
      await sleep(PAUSE_MS);
    } catch {
      failed++;
      await sleep(AFTER_ERROR_MS);
    }
  }
  return { done, failed };
}

/**
 * Mostly a heartbeat; every tenth time another revision, every fiftieth time a node that is deleted and registers again, or one that another pool
 * selects from then on.
 */
async function change(cluster: BenchCluster, turn: number): Promise<void> {
  const node = (turn * 7) % cluster.nodes;
  if (turn % 50 === 0) {
    await cluster.deleteNode(node);
    await cluster.createNode(node);
  } else if (turn % 50 === 25) {
    await cluster.patch(node, { metadata: { labels: { [POOL_LABEL]: groupName(node + turn, cluster.groups) } } });
  } else if (turn % 10 === 0) {
    await cluster.patchStatus(node, { nodeInfo: { kernelVersion: kernelVersion(REVISION + (turn % 97)) } });
  } else await cluster.patchStatus(node, { conditions: conditions(new Date()) });
}
