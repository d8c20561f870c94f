/** A TCP proxy on loopback that breaks connections on demand. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export class FaultyProxy {
  readonly #server: Server;
  readonly #target: number;
  readonly #pairs = new Set<Pair>();
  #isStalled = false;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  /** Starts one in front of a port of loopback, on a free port. */
  static async start(target: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Breaks every connection, like a restarted load balancer. */
  cut(): number {
    const pairs = [...this.#pairs];
    for (const { client, server } of pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
    return pairs.length;
  }

  /**
   * Makes every open connection half-open: it stays open, but nothing is forwarded, not even its end. New ones work. Disposing the result
   * breaks those that are still open.
   */
  freeze(): Disposable {
    const frozen = [...this.#pairs];
    for (const { client, server } of frozen) {
      client.unpipe(server);
      server.unpipe(client);
      // Data is discarded, because a paused socket would not detect that the client closes it.
      client.resume();
      server.pause();
    }
    return {
      [Symbol.dispose]: () => {
        for (const { client, server } of frozen) {
          client.destroy();
          server.destroy();
        }
      },
    };
  }

  /** Holds what the server sends back, on all connections and new ones, until the result is disposed. Requests pass. */
  stall(): Disposable {
    this.#isStalled = true;
    for (const { client, server } of this.#pairs) server.unpipe(client).pause();
    return {
      [Symbol.dispose]: () => {
        this.#isStalled = false;
        for (const { client, server } of this.#pairs) server.pipe(client);
      },
    };
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.cut();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  #join(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1');
    const pair = { client, server };
    this.#pairs.add(pair);
    const end = (): void => {
      this.#pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    client.pipe(server);
    if (!this.#isStalled) server.pipe(client);
  }
}
