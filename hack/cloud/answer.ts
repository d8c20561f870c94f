import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { AwsFault } from './awsFault.ts';
import type { Breakage } from './callFaults.ts';
import * as ec2Wire from './ec2Wire.ts';
import * as eksWire from './eksWire.ts';
import type { Reply } from './front.ts';
import type { Operation, Service } from './shapes.ts';

/** The answer to one call, on the wire of its service. */
export class Answer {
  readonly #response: ServerResponse;
  readonly #service: Service;
  readonly #requestId = randomUUID();

  constructor(response: ServerResponse, service: Service) {
    this.#response = response;
    this.#service = service;
  }

  /** Writes how the call ended. A call that hangs is simply not answered; the server's close() ends its connection. */
  write(operation: Operation, input: object, reply: Reply): void {
    switch (reply.kind) {
      case 'output':
        if (this.#service === 'eks') this.#json(200, eksWire.bodyFor(reply.output));
        else this.#xml(200, ec2Wire.bodyFor(operation, reply.output, this.#requestId));
        return;
      case 'fault':
        if (reply.retryAfterSeconds !== undefined)
          this.#response.setHeader('retry-after', String(reply.retryAfterSeconds));
        this.writeFault(reply.fault, input);
        return;
      case 'breakage':
        this.#break(reply.breakage);
    }
  }

  /** Writes an error. EKS names in it what the request was about. */
  writeFault(fault: AwsFault, input: { readonly clusterName?: unknown; readonly nodegroupName?: unknown } = {}): void {
    if (this.#service === 'ec2') {
      this.#xml(fault.httpStatus, ec2Wire.errorBodyFor(fault, this.#requestId));
      return;
    }
    const { clusterName, nodegroupName } = input;
    this.#response.setHeader('x-amzn-errortype', fault.name);
    this.#json(fault.httpStatus, JSON.stringify({ message: fault.message, clusterName, nodegroupName }));
  }

  #break({ kind, status }: Breakage): void {
    if (kind === 'reset') this.#response.socket?.resetAndDestroy();
    if (kind === 'empty') this.#response.writeHead(status).end();
    if (kind !== 'html') return;
    this.#response.writeHead(status, { 'content-type': 'text/html' }).end('<html><h1>Bad Gateway</h1></html>');
  }

  #json(status: number, body: string): void {
    this.#send(status, 'application/json', body);
  }

  #xml(status: number, body: string): void {
    this.#send(status, 'text/xml;charset=UTF-8', body);
  }

  #send(status: number, type: string, body: string): void {
    this.#response.writeHead(status, { 'content-type': type, 'x-amzn-requestid': this.#requestId }).end(body);
  }
}
