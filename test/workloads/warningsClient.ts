/** Requests to an API server that return its warnings, which the client of the operator and client-node do not show. */
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { parse } from 'yaml';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import type { Manifest } from './build.ts';

/** The answer to a request. */
export interface Answer {
  readonly status: number;
  /** The messages of violated policies, without the names of policy and binding. */
  readonly warnings: readonly string[];
  /** The object, or a Status with the reason for the rejection. */
  readonly body: { readonly message?: string; readonly spec?: unknown; readonly metadata?: unknown };
}

/** Sends requests of the cluster administrator. */
export class WarningsClient {
  readonly #plane: ControlPlane;
  readonly #token: string;

  private constructor(plane: ControlPlane, token: string) {
    this.#plane = plane;
    this.#token = token;
  }

  static async connect(plane: ControlPlane): Promise<WarningsClient> {
    const { users } = parse(await readFile(plane.adminKubeconfig, 'utf8'));
    return new WarningsClient(plane, users[0].user.token);
  }

  /** Creates the object in its namespace, by default without effect. */
  create(manifest: Manifest, { dryRun = true } = {}): Promise<Answer> {
    return this.#send('POST', pathOf(manifest), manifest, dryRun);
  }

  /** Patches the object or its subresource with a strategic merge patch, without effect. */
  patch({ metadata, ...manifest }: Manifest, patch: object, subresource = ''): Promise<Answer> {
    const path = `${pathOf({ ...manifest, metadata } as Manifest)}/${metadata.name}${subresource && `/${subresource}`}`;
    return this.#send('PATCH', path, patch, true);
  }

  async #send(method: string, path: string, body: object, dryRun: boolean): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const { hostname, port } = new URL(this.#plane.url);
    const sent = request({
      hostname,
      port,
      path: `${path}${dryRun ? '?dryRun=All' : ''}`,
      method,
      ca: Buffer.from(this.#plane.caData, 'base64'),
      headers: {
        authorization: `Bearer ${this.#token}`,
        'content-type': method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json',
      },
      signal: AbortSignal.timeout(30_000),
    });
    sent.on('error', reject).on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', reject).on('data', (data) => {
        text += data;
      });
      response.on('end', () => {
        const warnings = warningsOf(String(response.headers.warning ?? ''));
        resolve({ status: response.statusCode ?? 0, warnings, body: JSON.parse(text) });
      });
    });
    sent.end(JSON.stringify(body));
    return promise;
  }
}

function pathOf({ apiVersion, kind, metadata }: Manifest): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}/namespaces/${metadata.namespace}/${kind.toLowerCase()}s`;
}

/** Warnings are quoted strings after a code and an agent, separated by commas: https://www.rfc-editor.org/rfc/rfc7234#section-5.5 */
function warningsOf(header: string): string[] {
  return [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].flatMap(([, text = '']) => {
    const plain = text.replaceAll(/\\(.)/g, '$1');
    const found = /^Validation failed for ValidatingAdmissionPolicy '[^']*' with binding '[^']*': (.*)$/s.exec(plain);
    return found?.[1] === undefined ? [] : [found[1]];
  });
}
