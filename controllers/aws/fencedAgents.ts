/** Connections for the SDK that check the fence when they are established: until then, a request waits, and the process can be paused. */
import { type AgentOptions, type ClientRequestArgs, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Fence } from '../runtime/ports.ts';

/** Agents that hand a request its connection once it is established, and only if the fence still allows the request. */
export function fencedAgents(options: AgentOptions, fence: Fence): { httpAgent: HttpAgent; httpsAgent: HttpsAgent } {
  return {
    httpAgent: fenced(new HttpAgent(options), 'connect', fence),
    httpsAgent: fenced(new HttpsAgent(options), 'secureConnect', fence),
  };
}

type Callback = (error: Error | null, stream: Duplex) => void;

/** @param established the event of a socket that is ready */
function fenced<A extends HttpAgent>(agent: A, established: 'connect' | 'secureConnect', fence: Fence): A {
  const connect = agent.createConnection.bind(agent) as typeof agent.createConnection;
  // An agent may hand over a connection later, by the callback: https://nodejs.org/api/http.html#agentcreateconnectionoptions-callback
  agent.createConnection = (options: ClientRequestArgs, callback: Callback = () => undefined) => {
    const handOver = once(callback);
    const ready = (socket: Duplex): void => {
      try {
        fence.check();
      } catch (error) {
        socket.destroy();
        handOver(error as Error, socket);
        return;
      }
      handOver(null, socket);
    };
    const socket = connect(options, (error: Error | null, stream?: Duplex) => {
      // With a stream: of a tunnel through a proxy. Without: this is the listener of the event below.
      if (error) handOver(error, stream as Duplex);
      else if (stream) ready(stream);
    });
    if (!socket) return undefined;
    socket.once(established, () => ready(socket));
    const fail = (error: Error): void => handOver(error, socket);
    socket.once('error', fail);
    socket.once('close', () => fail(new Error('the connection was closed before it was established')));
    socket.once(established, () => socket.off('error', fail));
    return undefined;
  };
  return agent;
}

function once(callback: Callback): Callback {
  let isCalled = false;
  return (error, stream) => {
    if (!isCalled) callback(error, stream);
    isCalled = true;
  };
}
