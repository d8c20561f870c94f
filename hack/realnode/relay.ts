/** Connects servers in namespaces of their own with the loopback interface of the machine, through sockets in a folder, which is in no namespace. */
import { once } from 'node:events';
import {
  type AddressInfo,
  connect,
  createServer,
  type ListenOptions,
  type NetConnectOpts,
  type Socket,
} from 'node:net';

/** A running relay, which stops when it is disposed of. */
export interface Relay extends Disposable {
  /** Its TCP port on 127.0.0.1; 0 if it listens on a socket of a folder. */
  readonly port: number;
}

/** Listens in the namespaces on the socket `path`, for connections to the server at `url`. */
export function relayFrom(path: string, url: string): Promise<Relay> {
  const { hostname, port } = new URL(url);
  return relay({ path }, { host: hostname, port: Number(port) });
}

/** Listens on a free port of 127.0.0.1 of the machine, for connections to the socket `path`. */
export function relayTo(path: string): Promise<Relay> {
  return relay({ host: '127.0.0.1', port: 0 }, { path });
}

async function relay(from: ListenOptions, to: NetConnectOpts): Promise<Relay> {
  const connections = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(to);
    // In whatever way one end closes, the other one does.
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const) {
      connections.add(end);
      end.on('error', () => other.destroy()).on('close', () => connections.delete(end) && other.destroy());
      end.pipe(other);
    }
  });
  server.listen(from);
  await once(server, 'listening');
  const { port = 0 } = server.address() as Partial<AddressInfo>;
  const stop = () => {
    server.close();
    for (const connection of connections) connection.destroy();
  };
  return { port, [Symbol.dispose]: stop };
}
