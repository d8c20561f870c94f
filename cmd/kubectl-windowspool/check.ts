/** A check of `kubectl windowspool doctor`. */
import { KubernetesError } from '../../controllers/kubernetes/kubernetesError.ts';
import { explain, Failure } from './failure.ts';

/** The result of a check. SKIP: it could not be made, or does not apply. NOTE: advice, which is neither required nor a problem. */
export interface Check {
  readonly name: string;
  readonly result: 'PASS' | 'FAIL' | 'SKIP' | 'NOTE';
  readonly detail: string;
  /** The command that fixes it. */
  readonly fix?: string;
}

/** A check whose request may be denied. */
export async function checked(name: string, check: () => Promise<Omit<Check, 'name'>>): Promise<Check> {
  try {
    return { name, ...(await check()) };
  } catch (error) {
    return { name, result: 'SKIP', detail: skipReason(error) };
  }
}

/** Why a request could not answer a check. Throws what is not an error of a request. */
export function skipReason(error: unknown): string {
  if (error instanceof KubernetesError || error instanceof Failure) return explain(error);
  throw error;
}
