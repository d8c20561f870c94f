/** A real image registry on loopback, and what is pushed to it, for tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { toolPath } from '../../hack/tools/tools.ts';

const TIMEOUT_MS = 20_000;
const OCI = 'application/vnd.oci.image';

/** What an image is for, as in its configuration and in an index. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
  readonly 'os.version'?: string;
}

export class RegistryServer implements AsyncDisposable {
  /** `127.0.0.1:5000`, as in the names of its images. */
  readonly host: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, host: string) {
    this.#child = child;
    this.host = host;
  }

  /**
   * Starts a registry.
   * @param folder for its configuration and its images; several registries can share one
   * @param auth the section of this name in its configuration; undefined: it requires no credentials
   */
  static async start(folder: string, auth?: object): Promise<RegistryServer> {
    const config = join(await mkdtemp(join(folder, 'config-')), 'config.yaml');
    const storage = { filesystem: { rootdirectory: join(folder, 'storage') } };
    await writeFile(
      config,
      stringify({ version: '0.1', storage, http: { addr: '127.0.0.1:0' }, ...(auth && { auth }) }),
    );
    const program = await toolPath('registry', (line) => console.log(`    ${line}`));
    const child = spawn(program, ['serve', config], {
      env: { OTEL_TRACES_EXPORTER: 'none' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const lines: string[] = [];
    if (child.stderr) createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
    const port = () => {
      if (child.exitCode !== null) throw new Error(`The registry ended with ${child.exitCode}.\n${lines.join('\n')}`);
      return lines.flatMap((line) => /listening on 127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? [])[0];
    };
    const found = await waitFor(port, { what: 'the registry', explain: () => lines.join('\n') });
    return new RegistryServer(child, `127.0.0.1:${found}`);
  }

  /** Pushes an image with one manifest. Returns its digest. */
  async pushImage(repository: string, tag: string, platform: Platform): Promise<string> {
    const config = JSON.stringify({ ...platform, rootfs: { type: 'layers', diff_ids: [] } });
    const started = await this.#send('POST', `/v2/${repository}/blobs/uploads/`);
    const upload = new URL(started.headers.get('location') ?? '', `http://${this.host}`);
    upload.searchParams.set('digest', digestOf(config));
    await this.#send('PUT', upload.pathname + upload.search, config, 'application/octet-stream');
    const mediaType = `${OCI}.config.v1+json`;
    return this.#pushManifest(repository, tag, `${OCI}.manifest.v1+json`, {
      config: { mediaType, digest: digestOf(config), size: config.length },
      layers: [],
    });
  }

  /** Pushes an image with a variant for each platform. Returns its digest. */
  async pushIndex(repository: string, tag: string, ...platforms: readonly Platform[]): Promise<string> {
    const manifests: object[] = [];
    for (const [index, platform] of platforms.entries()) {
      const digest = await this.pushImage(repository, `${tag}-${index}`, platform);
      const { headers } = await this.#send('HEAD', `/v2/${repository}/manifests/${digest}`);
      const size = Number(headers.get('content-length'));
      manifests.push({ mediaType: `${OCI}.manifest.v1+json`, digest, size, platform });
    }
    return this.#pushManifest(repository, tag, `${OCI}.index.v1+json`, { manifests });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    this.#child.kill('SIGTERM');
    await exited;
  }

  async #pushManifest(repository: string, tag: string, mediaType: string, fields: object): Promise<string> {
    const manifest = JSON.stringify({ schemaVersion: 2, mediaType, ...fields });
    await this.#send('PUT', `/v2/${repository}/manifests/${tag}`, manifest, mediaType);
    return digestOf(manifest);
  }

  async #send(method: string, path: string, body?: string, type?: string): Promise<Response> {
    const headers = { accept: `${OCI}.manifest.v1+json`, ...(type && { 'content-type': type }) };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(`http://${this.host}${path}`, { method, headers, signal, ...(body && { body }) });
    if (!response.ok) throw new Error(`${method} ${path}: HTTP ${response.status} ${await response.text()}`);
    return response;
  }
}

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
