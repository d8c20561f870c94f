/** A certificate and its key from mounted files, reloaded on change: Kubernetes swaps the link `..data`, so both change at once. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Logger } from '../../../controllers/runtime/ports.ts';
import type { KeyPair } from './selfSigned.ts';
import { contextOf } from './serve.ts';

const CERT = 'tls.crt';
const KEY = 'tls.key';

/** Several changes come together: the files are read after this time. */
const SETTLE_MS = 200;
/** Polling interval, for file systems that report no changes. */
const POLL_MS = 60_000;

/** When a certificate is valid, in epoch milliseconds. */
export interface Validity {
  readonly startsAt: number;
  readonly endsAt: number;
}

/** Called for each read of the files that found something new. */
export interface CertificateHooks {
  /** A pair is served from now on. */
  readonly read: (validity: Validity) => void;
  /** The files could not be used: the previous pair is still served. */
  readonly failed: () => void;
}

/**
 * Reads tls.crt and tls.key, and calls `changed` for each later valid pair, until it is disposed. An invalid pair is logged once, and the previous
 * one stays.
 */
export class CertificateFiles implements Disposable {
  readonly #dir: string;
  readonly #log: Logger;
  readonly #hooks: CertificateHooks;
  readonly #stop: (() => void)[] = [];
  #served = '';
  #lastError = '';
  #settling: NodeJS.Timeout | undefined;

  constructor(dir: string, log: Logger, hooks: CertificateHooks) {
    this.#dir = dir;
    this.#log = log;
    this.#hooks = hooks;
  }

  /** The current pair. Rejects with the file and the remedy when it is invalid. */
  async first(): Promise<KeyPair> {
    const { pair, validity } = await readPair(this.#dir);
    this.#use(pair, validity);
    return pair;
  }

  /** Watches the files from now on. */
  follow(changed: (pair: KeyPair) => void): void {
    const schedule = () => {
      clearTimeout(this.#settling);
      this.#settling = setTimeout(() => void this.#reload(changed), SETTLE_MS).unref();
    };
    const timer = setInterval(schedule, POLL_MS).unref();
    this.#stop.push(() => clearInterval(timer));
    try {
      const watcher = watch(this.#dir, { persistent: false }, schedule);
      // For example, the directory was deleted: polling continues.
      watcher.on('error', (error) =>
        this.#log.warn({ error: error.message }, 'cannot watch the directory of the certificate; polling it'),
      );
      this.#stop.push(() => watcher.close());
    } catch (error) {
      this.#log.warn({ error: (error as Error).message }, 'cannot watch the directory of the certificate; polling it');
    }
    // The files may have changed since they were read.
    schedule();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#settling);
    for (const stop of this.#stop) stop();
  }

  /** Never rejects. */
  async #reload(changed: (pair: KeyPair) => void): Promise<void> {
    try {
      const { pair, validity } = await readPair(this.#dir);
      if (pair.cert + pair.key === this.#served) return;
      changed(pair);
      this.#use(pair, validity);
      const until = new Date(validity.endsAt).toISOString();
      this.#log.info({ until }, 'reloaded the certificate of the metrics endpoint');
    } catch (error) {
      this.#hooks.failed();
      const { message } = error as Error;
      if (message !== this.#lastError)
        this.#log.error(
          { error: message },
          'cannot reload the certificate of the metrics endpoint; serving the previous one',
        );
      this.#lastError = message;
    }
  }

  #use(pair: KeyPair, validity: Validity): void {
    this.#served = pair.cert + pair.key;
    this.#lastError = '';
    this.#hooks.read(validity);
  }
}

async function readPair(dir: string): Promise<{ readonly pair: KeyPair; readonly validity: Validity }> {
  const [certPath, keyPath] = [join(dir, CERT), join(dir, KEY)];
  // One after the other, so that an empty directory always gives the same message.
  const cert = await readText(certPath);
  const key = await readText(keyPath);
  const certificate = parse(certPath, 'certificate', () => new X509Certificate(cert));
  const privateKey: KeyObject = parse(keyPath, 'private key', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey))
    throw new Error(`${keyPath} is not the key of ${certPath}. Mount a Secret of type kubernetes.io/tls with both.`);
  try {
    createSecureContext(contextOf({ cert, key }));
  } catch (error) {
    const why = (error as Error).message.split(':').at(-1);
    throw new Error(`${certPath} and ${keyPath} cannot be used: ${why}. Correct the Secret that is mounted there.`);
  }
  const validity = { startsAt: Date.parse(certificate.validFrom), endsAt: Date.parse(certificate.validTo) };
  return { pair: { cert, key }, validity };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new Error(`${path} ${why}. Mount a Secret of type kubernetes.io/tls there, or remove --metrics-cert-dir.`);
  }
}

function parse<T>(path: string, what: string, make: () => T): T {
  try {
    return make();
  } catch {
    // The message of OpenSSL names neither the file nor what was expected in it.
    throw new Error(`${path} contains no ${what} in PEM format. Correct the Secret that is mounted there.`);
  }
}
