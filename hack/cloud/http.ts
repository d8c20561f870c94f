import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AwsFault } from './awsFault.ts';
import { type Caller, servedOperation } from './calls.ts';
import * as ec2Wire from './ec2Wire.ts';
import * as eksWire from './eksWire.ts';
import type { Front, Reply } from './front.ts';
import type { Operation, Service } from './shapes.ts';

/** Answers requests below /_admin/: status and a JSON value. */
export type Admin = (
  method: string,
  path: string,
  body: string,
) => { readonly status: number; readonly value: unknown };

interface Incoming {
  readonly operation: Operation;
  readonly input: object;
}

/** The HTTP front of both services on one port of 127.0.0.1: EC2 is POST /, EKS every other path. */
export class HttpFront {
  readonly #front: Front;
  readonly #admin: Admin;
  readonly #callerArn: string;
  readonly #server: Server;

  constructor(front: Front, admin: Admin, callerArn: string) {
    this.#front = front;
    this.#admin = admin;
    this.#callerArn = callerArn;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.writeHead(500, { 'content-type': 'text/plain' }).end(`hack/cloud failed: ${String(error)}`);
      });
    });
  }

  /** Listens; port 0 takes a free one. Returns the URL. */
  listen(port: number): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', () => {
        resolve(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
      });
    });
  }

  /** Stops listening and cuts every connection, hanging ones too. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname.startsWith('/_admin/')) {
      const { status, value } = this.#admin(request.method ?? 'GET', url.pathname.slice('/_admin/'.length), body);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value ?? {}));
      return;
    }
    const service: Service = url.pathname === '/' ? 'ec2' : 'eks';
    const requestId = randomUUID();
    try {
      checkSignature(request);
      const incoming = service === 'eks' ? eksRequest(request, url, body) : ec2Request(body);
      const caller: Caller = { arn: this.#callerArn, userAgent: request.headers['user-agent'] ?? '' };
      const { operation, input } = incoming;
      write(response, service, operation, await this.#front.serve(service, operation.name, input, caller), requestId);
    } catch (error) {
      if (!(error instanceof AwsFault)) throw error;
      writeFault(response, service, error, requestId);
    }
  }
}

// The signature itself is not checked: the local AWS knows no secrets. That there is one is.
function checkSignature(request: IncomingMessage): void {
  if (request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 ') === true) return;
  throw new AwsFault('MissingAuthenticationToken', 'Missing Authentication Token');
}

function eksRequest(request: IncomingMessage, url: URL, body: string): Incoming {
  // The raw path: URL would have decoded nothing, but it normalises "." and "..".
  const rawPath = (request.url ?? '/').split('?')[0] ?? '/';
  const routed = eksWire.route(request.method ?? 'GET', rawPath);
  const operation = servedOperation('eks', routed.operation);
  return { operation, input: eksWire.inputOf(operation, routed, url.searchParams, body) };
}

function ec2Request(body: string): Incoming {
  const form = new URLSearchParams(body);
  const action = form.get('Action');
  if (action === null) throw new AwsFault('MissingAction', 'The request is missing an Action parameter');
  if (form.get('Version') !== '2016-11-15')
    throw new AwsFault('NoSuchVersion', `EC2 has no version ${form.get('Version')}`);
  const operation = servedOperation('ec2', action);
  return { operation, input: ec2Wire.inputOf(operation, form) };
}

function write(
  response: ServerResponse,
  service: Service,
  operation: Operation,
  reply: Reply,
  requestId: string,
): void {
  switch (reply.kind) {
    case 'output':
      if (service === 'eks') sendJson(response, 200, eksWire.bodyFor(reply.output), requestId);
      else sendXml(response, 200, ec2Wire.bodyFor(operation, reply.output, requestId), requestId);
      return;
    case 'fault':
      if (reply.retryAfterSeconds !== undefined) response.setHeader('retry-after', String(reply.retryAfterSeconds));
      writeFault(response, service, reply.fault, requestId);
      return;
    case 'breakage':
      break_(response, reply.breakage.kind, reply.breakage.status);
  }
}

function break_(response: ServerResponse, kind: 'reset' | 'hang' | 'html' | 'empty', status: number): void {
  if (kind === 'reset') response.socket?.resetAndDestroy();
  if (kind === 'empty') response.writeHead(status).end();
  if (kind === 'html')
    response.writeHead(status, { 'content-type': 'text/html' }).end('<html><h1>Bad Gateway</h1></html>');
  // A hanging call is simply not answered; close() ends its connection.
}

function writeFault(response: ServerResponse, service: Service, fault: AwsFault, requestId: string): void {
  if (service === 'ec2') {
    sendXml(response, fault.httpStatus, ec2Wire.errorBodyFor(fault, requestId), requestId);
    return;
  }
  response.setHeader('x-amzn-errortype', fault.name);
  sendJson(response, fault.httpStatus, JSON.stringify({ message: fault.message }), requestId);
}

function sendJson(response: ServerResponse, status: number, body: string, requestId: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-requestid': requestId }).end(body);
}

function sendXml(response: ServerResponse, status: number, body: string, requestId: string): void {
  response.writeHead(status, { 'content-type': 'text/xml;charset=UTF-8', 'x-amzn-requestid': requestId }).end(body);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
