/** The number of Ready pods of an app, counted at every event of a watch. */
import type { V1Pod } from '@kubernetes/client-node';
import type { Stored } from '../../../controllers/kubernetes/objects.ts';
import { watchEvents } from './watchEvents.ts';

export interface PodsReady {
  /** Ends the watch. Returns the minimum number of Ready pods since its start, and the number of events. */
  stop(): Promise<{ readonly least: number; readonly events: number }>;
}

/** Counts the Ready pods of namespace `default` with the label `app`. Terminating pods are not counted. */
export async function watchReadyPods(kubeconfigPath: string, app: string): Promise<PodsReady> {
  const serving = new Set<string>();
  let least = Number.POSITIVE_INFINITY;
  let events = 0;
  let isComplete = false;
  const path = `/api/v1/namespaces/default/pods`;
  const watched = await watchEvents<Stored<V1Pod>>(kubeconfigPath, path, ({ type, object: { metadata, status } }) => {
    if (metadata.labels?.app !== app) return;
    const ready = status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
    if (type !== 'DELETED' && ready && !metadata.deletionTimestamp) serving.add(metadata.uid);
    else serving.delete(metadata.uid);
    // The count is too low until all existing pods are known.
    if (!isComplete) return;
    events += 1;
    least = Math.min(least, serving.size);
  });
  isComplete = true;
  least = serving.size;
  return {
    async stop() {
      await watched.stop();
      return { least, events };
    },
  };
}
