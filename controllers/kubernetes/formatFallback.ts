import type { ListWatch } from '../runtime/ports.ts';
import { KubernetesError } from './kubernetesError.ts';

/** Not Acceptable and Unsupported Media Type. The server sends them before the first event. */
const REFUSALS: readonly (number | undefined)[] = [406, 415];

interface Formats<T> {
  /** The collection in the preferred format. */
  readonly preferred: ListWatch<T>;
  /** The collection in a format that every server has. */
  readonly fallback: ListWatch<T>;
  /** Called once, when the server rejects the preferred format. */
  onRefused(error: KubernetesError): void;
}

/** Uses the preferred format until the server rejects it, then always the fallback. */
export function withFallback<T>({ preferred, fallback, onRefused }: Formats<T>): ListWatch<T> {
  let chosen = preferred;
  /** Whether to repeat the call with the fallback. */
  const isRefused = (used: ListWatch<T>, error: unknown): boolean => {
    if (used === fallback || !(error instanceof KubernetesError) || !REFUSALS.includes(error.status)) return false;
    if (chosen === preferred) onRefused(error);
    chosen = fallback;
    return true;
  };
  return {
    list: async (options, signal) => {
      const used = chosen;
      try {
        return await used.list(options, signal);
      } catch (error) {
        if (!isRefused(used, error)) throw error;
        return fallback.list(options, signal);
      }
    },
    watch: async function* (options, signal) {
      const used = chosen;
      try {
        return yield* used.watch(options, signal);
      } catch (error) {
        if (!isRefused(used, error)) throw error;
      }
      yield* fallback.watch(options, signal);
    },
  };
}
