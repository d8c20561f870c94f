import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { AwsFault } from '../awsFault.ts';
import { ADMINISTRATOR, servedOperation } from './calls.ts';
import * as eksWire from './eksWire.ts';
import type { Front } from './front.ts';
import type { Caller } from './operations.ts';
import * as queryWire from './queryWire.ts';
import { ServiceResponse } from './serviceResponse.ts';
import type { Operation, Service } from './shapes.ts';

/** Handles requests below /_admin/: returns status and a JSON value. */
export type Admin = (
  method: string,
  path: string,
  body: string,
) => { readonly status: number; readonly value: unknown };

interface Incoming {
  readonly operation: Operation;
  readonly input: object;
}

/**
 * A connection that was idle for so long is closed. How long those of AWS stay open is not documented; this is the default of its load balancers. A
 * request of a client that was paused for less than that still arrives.
 */
const IDLE_MS = 60_000;

/** The HTTP front of all services on one port: EKS has paths, the others differ in the body of a POST to /. */
export class HttpFront {
  readonly #front: Front;
  readonly #admin: Admin;
  readonly #callerArn: string;
  readonly #administratorArn: string;
  readonly #server: Server;

  constructor(front: Front, admin: Admin, callerArn: string) {
    this.#front = front;
    this.#admin = admin;
    this.#callerArn = callerArn;
    this.#administratorArn = `arn:aws:iam::${front.state.cluster.accountId}:user/${ADMINISTRATOR}`;
    this.#server = createServer({ keepAliveTimeout: IDLE_MS }, (request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        // A caller that disconnected during its request gets no response.
        if (response.headersSent || response.destroyed) return;
        response.writeHead(500, { 'content-type': 'text/plain' }).end(`test/fakes/localaws failed: ${String(error)}`);
      });
    });
  }

  /** Listens; port 0 selects a free one. Returns the URL. */
  listen(port: number, address = '127.0.0.1'): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, address, () => {
        resolve(`http://${address}:${(this.#server.address() as AddressInfo).port}`);
      });
    });
  }

  /** Stops listening and closes every connection, including hanging ones. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  /** The operator, unless the credentials are the administrator's. */
  #callerOf({ headers }: IncomingMessage): Caller {
    const userAgent = headers['user-agent'] ?? '';
    return headers.authorization?.includes(` Credential=${ADMINISTRATOR}/`)
      ? { arn: this.#administratorArn, userAgent, isAdministrator: true }
      : { arn: this.#callerArn, userAgent };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname.startsWith('/_admin/')) {
      const { status, value } = this.#admin(request.method ?? 'GET', url.pathname.slice('/_admin/'.length), body);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value ?? {}));
      return;
    }
    const service = url.pathname === '/' ? serviceOf(request, body) : 'eks';
    const answer = new ServiceResponse(response, service);
    try {
      checkSignature(request);
      const { operation, input } = incoming(service, request, url, body);
      const caller = this.#callerOf(request);
      answer.write(operation, input, await this.#front.serve(service, operation.name, input, caller));
    } catch (error) {
      if (!(error instanceof AwsFault)) throw error;
      answer.writeFault(error);
    }
  }
}

// A signature must be present, but is not verified: the local AWS has no secrets.
function checkSignature(request: IncomingMessage): void {
  if (request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 ') === true) return;
  throw new AwsFault('MissingAuthenticationToken', 'Missing Authentication Token');
}

// SSM has its operation in a header, and each query service has a version.
function serviceOf(request: IncomingMessage, body: string): Service {
  if (request.headers['x-amz-target'] !== undefined) return 'ssm';
  const version = new URLSearchParams(body).get('Version');
  return (['autoscaling', 'sts', 'iam'] as const).find((service) => queryWire.versions[service] === version) ?? 'ec2';
}

function incoming(service: Service, request: IncomingMessage, url: URL, body: string): Incoming {
  switch (service) {
    case 'eks':
      return eksRequest(request, url, body);
    case 'ssm':
      return jsonRequest(service, String(request.headers['x-amz-target']), body);
    default:
      return queryRequest(service, body);
  }
}

function jsonRequest(service: Service, target: string, body: string): Incoming {
  const operation = servedOperation(service, target.split('.').at(-1) ?? '');
  return { operation, input: eksWire.bodyOf(body) };
}

function eksRequest(request: IncomingMessage, url: URL, body: string): Incoming {
  // The raw path: URL would have decoded nothing, but it normalises "." and "..".
  const rawPath = (request.url ?? '/').split('?')[0] ?? '/';
  const routed = eksWire.route(request.method ?? 'GET', rawPath);
  const operation = servedOperation('eks', routed.operation);
  return { operation, input: eksWire.inputOf(operation, routed, url.searchParams, body) };
}

function queryRequest(service: queryWire.QueryService, body: string): Incoming {
  const form = new URLSearchParams(body);
  const action = form.get('Action');
  if (action === null) throw new AwsFault('MissingAction', 'The request is missing an Action parameter');
  if (form.get('Version') !== queryWire.versions[service])
    throw new AwsFault('NoSuchVersion', `EC2 has no version ${form.get('Version')}`);
  const operation = servedOperation(service, action);
  return { operation, input: queryWire.inputOf(operation, form) };
}
