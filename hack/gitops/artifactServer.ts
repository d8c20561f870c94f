/**
 * A source for Flux: archives of a Git repository, served over HTTP on the loopback interface and published as ExternalArtifacts, the API of
 * Flux for sources other than its source-controller. source-controller cannot be built: no release of its module
 * github.com/fluxcd/pkg/artifact was available as a Go module in November 2026.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../controlplane/command.ts';
import type { ControlPlane } from '../controlplane/controlplane.ts';
import type { GitRepository } from './gitRepository.ts';

const GIT_TIMEOUT_MS = 30_000;

/** The part of a repository that an artifact contains. */
interface ArtifactContents {
  /** A folder of the repository, without a slash at its end. Default: the whole repository. */
  readonly path?: string;
  /** A folder of the archive, above the files: the archive of a Helm chart has one, with the name of the chart. */
  readonly prefix?: string;
}

/** An HTTP server with the archives that were published. */
export class ArtifactServer {
  readonly #plane: ControlPlane;
  readonly #namespace: string;
  readonly #archives: Map<string, Buffer>;
  readonly #server: Server;

  private constructor(plane: ControlPlane, namespace: string, archives: Map<string, Buffer>, server: Server) {
    this.#plane = plane;
    this.#namespace = namespace;
    this.#archives = archives;
    this.#server = server;
  }

  /** Starts a server whose ExternalArtifacts are in `namespace`. */
  static async start(plane: ControlPlane, namespace: string): Promise<ArtifactServer> {
    const archives = new Map<string, Buffer>();
    const server = createServer((request, response) => {
      const archive = archives.get(request.url ?? '');
      response.writeHead(archive ? 200 : 404, { 'content-type': 'application/gzip' }).end(archive);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ArtifactServer(plane, namespace, archives, server);
  }

  /** Publishes the last commit of a repository as ExternalArtifact `name`, and returns its revision. */
  async publish(name: string, repository: GitRepository, contents: ArtifactContents = {}): Promise<string> {
    const { commit, archive } = await archiveOf(repository, contents);
    const revision = `main@sha1:${commit}`;
    const path = `/${name}/${commit}.tar.gz`;
    this.#archives.set(path, archive);
    const { port } = this.#server.address() as AddressInfo;
    const artifact = {
      url: `http://127.0.0.1:${port}${path}`,
      path: path.slice(1),
      revision,
      digest: `sha256:${createHash('sha256').update(archive).digest('hex')}`,
      lastUpdateTime: new Date().toISOString(),
      size: archive.length,
    };
    const object = {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'ExternalArtifact',
      metadata: { name, namespace: this.#namespace },
    };
    await this.#plane.kubectlOutput(['apply', '--server-side', '-f', '-'], { stdin: JSON.stringify(object) });
    const patch = JSON.stringify({ status: { artifact } });
    const status = ['--subresource=status', '--type=merge', '--patch', patch];
    await this.#plane.kubectlOutput(['patch', 'externalartifact', name, '--namespace', this.#namespace, ...status]);
    return revision;
  }

  /** Closes the server. */
  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

async function archiveOf(
  { folder }: GitRepository,
  { path = '', prefix }: ArtifactContents,
): Promise<{ commit: string; archive: Buffer }> {
  const git = async (...args: readonly string[]) => {
    const { stdout, stderr, code } = await runCommand('git', args, { cwd: folder, timeoutMs: GIT_TIMEOUT_MS });
    if (code !== 0) throw new Error(`git ${args.join(' ')} exited with status ${code}: ${stderr.trim()}`);
    return stdout;
  };
  const commit = (await git('rev-parse', 'HEAD')).trim();
  const temporary = await mkdtemp(join(tmpdir(), 'windowspool-artifact-'));
  try {
    const file = join(temporary, 'archive.tar.gz');
    const above = prefix === undefined ? [] : [`--prefix=${prefix}/`];
    // The archive of a tree contains only files. That of a commit would have a header with its hash.
    await git('archive', '--format=tar.gz', ...above, '--output', file, `${commit}:${path}`);
    return { commit, archive: await readFile(file) };
  } finally {
    await rm(temporary, { recursive: true });
  }
}
