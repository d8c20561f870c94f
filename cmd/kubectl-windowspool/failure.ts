/** Errors as one sentence, and the exit codes of the plugin. */
import { isForbidden } from '../../controllers/kubernetes/errors.ts';
import { KubernetesError, messageOf } from '../../controllers/kubernetes/kubernetesError.ts';
import { editDistance } from '../../controllers/windowspool/util/editDistance.ts';
import { sentence } from '../../controllers/windowspool/util/words.ts';

/** Exit codes: docs/reference/plugin.md lists them. */
export const EXIT = { ok: 0, failed: 1, usage: 2, canceled: 3, interrupted: 130 } as const;

/** A failure with a message for the user, and the exit code of the process. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: number;

  constructor(message: string, code: number = EXIT.failed) {
    super(message);
    this.code = code;
  }
}

/** What went wrong and what to do, without a stack. */
export function explain(error: unknown): string {
  if (error instanceof Failure) return error.message;
  if (error instanceof KubernetesError) return explainRequest(error);
  return isTimeout(error) ? unreachable('no response within --request-timeout') : sentence(messageOf(error));
}

/**
 * The result of a read that the command can do without. If the user may not do it, the fallback; `skipped` then gets what is missing, and why.
 * @param isExpected whether the fallback replaces the result also after this error
 */
export async function unlessForbidden<T, F>(
  read: Promise<T>,
  fallback: F,
  missing: string,
  skipped: string[],
  isExpected: (error: unknown) => boolean = isForbidden,
): Promise<T | F> {
  try {
    return await read;
  } catch (error) {
    if (!isExpected(error)) throw error;
    skipped.push(`${missing}: ${explain(error)}`);
    return fallback;
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

function unreachable(why: string): string {
  return `${sentence(`Cannot reach the cluster: ${why}`)} Check your network and VPN, or choose another cluster with --context.`;
}

const LOGIN = 'Log in again, or choose another user with --context.';

function explainRequest({ status, reason, message }: KubernetesError): string {
  if (status === 401) return `The API server does not accept your credentials: ${sentence(message)} ${LOGIN}`;
  if (status === 403) {
    const remedy = /resource "windowspools"/.test(message)
      ? 'The ClusterRole windowspool-operator-windowspools-view allows reading pools, and windowspool-operator-windowspools-edit changing them.'
      : 'Ask a cluster administrator for this permission.';
    return `Permission denied: ${sentence(message)} ${remedy}`;
  }
  if (reason === 'NoCredentials') return `Cannot log in: ${sentence(message)} ${LOGIN}`;
  if (status === undefined)
    return unreachable(reason === 'TimeoutError' ? message.replace(/: .*/, ' within --request-timeout') : message);
  return sentence(message);
}

/** ` Did you mean "web"?` if a name is similar; otherwise empty. */
export function suggestion(name: string, names: readonly string[]): string {
  const distances = names.map((known) => ({ known, distance: editDistance(name, known) }));
  const [nearest] = distances.sort((a, b) => a.distance - b.distance);
  const isSimilar = nearest && nearest.distance <= Math.max(1, Math.floor(name.length / 3));
  return isSimilar ? ` Did you mean "${nearest.known}"?` : '';
}
