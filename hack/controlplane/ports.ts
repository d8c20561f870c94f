import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the range from which Linux (32768) and macOS (49152) take ports for outgoing connections, so that a port stays free during a restart of a server. */
const lowest = 20_000;
const highest = 32_000;

/**
 * A free loopback port. Another process may take it before it is used: retry with another one if the log of a server matches {@link
 * portTaken}.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const port = randomInt(lowest, highest);
    if (await canListen(port)) return port;
  }
  throw new Error(`Found no free port on 127.0.0.1 between ${lowest} and ${highest}. End some of the servers there.`);
}

/** Whether the log of a server has Go's text for EADDRINUSE. */
export function portTaken(log: string): boolean {
  return log.includes('address already in use');
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
