/** Ways to the API server that a test can control: kubeconfigs that lead through a port of its own, and a cable that can be cut. */
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { kubeconfig, writeSecretFile } from '../../hack/controlplane/kubeconfig.ts';

/** Writes a kubeconfig like the given one that leads to a port of 127.0.0.1, and returns its path. The authority stays the same. */
export async function detourKubeconfig(controlPlane: ControlPlane, original: string, port: number): Promise<string> {
  const { users } = parse(await readFile(original, 'utf8')) as { users: [{ name: string; user: { token: string } }] };
  const [{ name, user }] = users;
  const path = join(controlPlane.dir, 'kubeconfig', `detour-${port}.yaml`);
  const server = `https://127.0.0.1:${port}`;
  await writeSecretFile(path, kubeconfig(server, controlPlane.caData, { name, token: user.token }));
  return path;
}

/** Listens on a free port of 127.0.0.1 and returns it. */
export async function listenAnywhere(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** A connection to the API server that can go silent: as a broken network does, it neither answers nor closes. */
export class Cable implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  readonly #to: number;
  #isCut = false;
  #kubeconfig = '';

  private constructor(to: number) {
    this.#to = to;
    this.#server = createServer((near) => this.#join(near));
  }

  static async start(controlPlane: ControlPlane, original: string): Promise<Cable> {
    const cable = new Cable(Number(new URL(controlPlane.url).port));
    cable.#kubeconfig = await detourKubeconfig(controlPlane, original, await listenAnywhere(cable.#server));
    return cable;
  }

  /** Path of a kubeconfig that leads through the cable. */
  get kubeconfig(): string {
    return this.#kubeconfig;
  }

  /** From now on nothing passes, in either direction. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) {
      socket.unpipe();
      socket.pause();
    }
  }

  /** The connections of the time before are closed, and new ones work. */
  restore(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(near: Socket): void {
    this.#keep(near);
    if (this.#isCut) return;
    const upstream = connect(this.#to, '127.0.0.1');
    this.#keep(upstream);
    near.pipe(upstream);
    upstream.pipe(near);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    // A peer that was killed resets its connections.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
  }
}
