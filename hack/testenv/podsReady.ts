/** How many pods of an app serve, seen at every event of a watch. */
import type { V1Pod } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { watchEvents } from './watchEvents.ts';

export interface PodsReady {
  /** Ends the watch. Gives the least number of pods that served at the same time since it began, and how many events it had. */
  stop(): Promise<{ readonly least: number; readonly events: number }>;
}

/** Counts the Ready pods of namespace `default` with the label `app`. One that is asked to end no longer counts. */
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
    // Until all pods that were there are known, the count is too low.
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
