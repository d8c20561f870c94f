import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Authentication, Credentials } from './authentication.ts';
import { ExpiringCache } from './expiringCache.ts';

/** https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/#directly-accessing-the-rest-api */
const MOUNTED_BY_KUBELET = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * How long the files are cached. The kubelet rotates a token after 80 percent of its lifetime, and client-go caches one for a minute
 * (https://github.com/kubernetes/client-go/blob/master/transport/token_source.go).
 */
const TTL_MS = 1_000;

const READ_TIMEOUT_MS = 5_000;

/** The ServiceAccount of the pod. Not client-node's: its runtime takes 33 MB of memory to read two files. */
export class PodCredentials implements Credentials {
  readonly server: string;
  readonly proxyUrl = undefined;
  readonly namespace: string | undefined;
  readonly #dir: string;
  readonly #cache: ExpiringCache<Authentication>;

  /** Throws outside of a pod, and in a pod without a token. */
  constructor(
    dir: string = MOUNTED_BY_KUBELET,
    env: Readonly<Record<string, string | undefined>> = process.env,
    ttlMs = TTL_MS,
  ) {
    const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
    if (!host || !existsSync(join(dir, 'token'))) {
      throw new Error(
        'The operator does not run in a pod with a ServiceAccount, and --kubeconfig is not set. Set --kubeconfig.',
      );
    }
    this.server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
    const namespace = join(dir, 'namespace');
    this.namespace = existsSync(namespace) ? readFileSync(namespace, 'utf8').trim() : undefined;
    this.#dir = dir;
    this.#cache = new ExpiringCache(1, () => ttlMs);
  }

  /** Reads the files at most once a second: reading them for each request took a fifth of a busy operator's CPU time. */
  authenticate(): Promise<Authentication> {
    return this.#cache.get('', () => this.#readFiles());
  }

  async #readFiles(): Promise<Authentication> {
    // The volume may hang: the next request reads it again.
    const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
    const [token, ca] = await Promise.all([
      readFile(join(this.#dir, 'token'), { encoding: 'utf8', signal }),
      readFile(join(this.#dir, 'ca.crt'), { signal }),
    ]);
    return { headers: { authorization: `Bearer ${token.trim()}` }, tls: { ca } };
  }
}
