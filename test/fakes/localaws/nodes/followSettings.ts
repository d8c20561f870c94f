import type { LocalAwsState } from '../state.ts';
import type { ClusterSettings } from './clusterSettings.ts';
import { untilDone } from './untilDone.ts';

/** Applies EKS' changes of the cluster's settings one after the other. Returns a function that waits for the last. */
export function followSettings(
  cloud: LocalAwsState,
  settings: ClusterSettings,
  problem: (error: unknown) => void,
  signal: AbortSignal,
): () => Promise<void> {
  let tail = Promise.resolve();
  let reading = false;
  const add = (run: () => Promise<unknown>): void => {
    tail = tail.then(run).then(
      () => {},
      (error: unknown) => {
        if (!signal.aborted) problem(error);
      },
    );
  };
  const read = (): void => {
    // Callers poll, so one read at a time is sufficient, and a failed one is ignored.
    if (reading) return;
    reading = true;
    add(() => {
      reading = false;
      return settings.readAwsAuth(signal).catch(() => {});
    });
  };
  cloud.onSetting((event) => {
    if (signal.aborted) return;
    switch (event.kind) {
      case 'addon':
        add(() => untilDone(async () => event.done(await settings.applyAddon(event.conflicts, signal)), signal));
        return;
      case 'mapRole':
        add(() => untilDone(() => settings.mapRole(event.roleArn, event.groups, signal), signal));
        read();
        return;
      case 'unmapRole':
        add(() => untilDone(() => settings.unmapRole(event.roleArn, signal), signal));
        read();
        return;
      case 'readAwsAuth':
        read();
    }
  });
  return () => tail;
}
