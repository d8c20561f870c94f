import type { ListWatch } from '../runtime/ports.ts';
import { KubernetesError } from './kubernetesError.ts';

/** Not Acceptable, Unsupported Media Type: they come before the first event. */
const REFUSALS: readonly (number | undefined)[] = [406, 415];

interface Formats<T> {
  /** A collection in the format that is wanted. */
  readonly preferred: ListWatch<T>;
  /** The same one in a format that every server has. */
  readonly fallback: ListWatch<T>;
  /** Called once, when the server has refused the wanted format. */
  onRefused(error: KubernetesError): void;
}

/** The collection in the wanted format until the server refuses that, and from then on, for good, in the other one. */
export function withFallback<T>({ preferred, fallback, onRefused }: Formats<T>): ListWatch<T> {
  let chosen = preferred;
  /** Whether `used` is no use, so that the same must be asked for in the other format. */
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
