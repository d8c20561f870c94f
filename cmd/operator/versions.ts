/** The versions that the operator depends on: of the API server and of the CRD. */
import { checkApiServer, type VersionCheck } from '../../controllers/kubernetes/apiServerVersion.ts';
import { crdMismatch, readCrdVersion } from '../../controllers/kubernetes/crdVersion.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import type { Connections } from './connections.ts';
import { crdMetric } from './metrics/catalogue.ts';

const REFRESH_MS = 3_600_000;
/** While the CRD is of another release: it is usually upgraded within minutes. */
const MISMATCH_REFRESH_MS = 15_000;
/** While the version of the API server is not known. */
const UNKNOWN_REFRESH_MS = 5_000;

/**
 * Reads the API server's version, which kubelets are compared with, and checks it if it has changed. An error is logged, because the API server
 * may be restarting.
 */
export async function readServerVersion(
  { client, serverVersion: version }: Connections,
  log: Logger,
  signal: AbortSignal,
): Promise<VersionCheck | undefined> {
  const before = version.current;
  try {
    version.current = await client.serverVersion(signal);
  } catch (error) {
    log.warn({ error: (error as Error).message }, 'the version of the API server is not known');
  }
  const check = version.current === before ? undefined : checkApiServer(version.current ?? '');
  if (check?.kind === 'untested') log.warn({ kubernetes: version.current }, check.message);
  return check;
}

/** Checks the release of the CRD, and refreshes both versions, which change when the control plane or the CRD is upgraded. */
export async function keepVersions(
  connections: Connections,
  operator: string,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { serverVersion } = connections;
  const checkCrd = crdCheck(connections, operator, log);
  while (!signal.aborted) {
    const crdRefreshMs = (await checkCrd(signal)) ? REFRESH_MS : MISMATCH_REFRESH_MS;
    const wait = serverVersion.current === undefined ? UNKNOWN_REFRESH_MS : crdRefreshMs;
    await realClock.sleep(wait, signal).catch(() => undefined);
    if (signal.aborted) return;
    const check = await readServerVersion(connections, log, signal);
    if (check?.kind === 'tooOld') log.error({ kubernetes: serverVersion.current }, check.message);
  }
}

/** Returns whether the CRD is of the release of the operator. If not, and if that is not known, logs why, once. */
function crdCheck({ client, registry }: Connections, operator: string, log: Logger) {
  const setMismatch = crdMetric(registry);
  let logged: string | undefined;
  return async (signal: AbortSignal): Promise<boolean> => {
    const check = await readCrdVersion(client, signal).then(
      (crd) => ({ crd, mismatch: crdMismatch(crd, operator) }),
      (error: Error) => ({ error: error.message }),
    );
    if (signal.aborted) return true;
    const mismatch = 'mismatch' in check ? check.mismatch : undefined;
    setMismatch(mismatch !== undefined);
    const text = 'error' in check ? check.error : mismatch;
    if (text !== undefined && text !== logged) {
      if ('error' in check) log.warn({ error: text }, 'the release of the CRD is not known');
      else log.warn({ crd: check.crd }, text);
    }
    logged = text;
    return text === undefined;
  };
}
