import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { AwsFault } from '../awsFault.ts';
import type { Breakage } from './callFaults.ts';
import type { Reply } from './front.ts';
import { protocols, type Subject } from './protocols.ts';
import type { Operation, Service } from './shapes.ts';

/** The HTTP response to one call, in the protocol of its service. */
export class ServiceResponse {
  readonly #response: ServerResponse;
  readonly #service: Service;
  readonly #requestId = randomUUID();

  constructor(response: ServerResponse, service: Service) {
    this.#response = response;
    this.#service = service;
  }

  /** Writes the result of the call. A call that hangs gets no response; the server's close() ends its connection. */
  write(operation: Operation, input: object, reply: Reply): void {
    switch (reply.kind) {
      case 'output':
        this.#send(200, protocols[this.#service].body(operation, reply.output, this.#requestId));
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

  /** Writes an error. EKS includes the subject of the request. */
  writeFault(fault: AwsFault, subject: Subject = {}): void {
    const body = protocols[this.#service].errorBody(fault, this.#requestId, subject);
    if (this.#service === 'eks') this.#response.setHeader('x-amzn-errortype', fault.name);
    this.#send(fault.httpStatus, body);
  }

  #break({ kind, status }: Breakage): void {
    if (kind === 'reset') this.#response.socket?.resetAndDestroy();
    if (kind === 'empty') this.#response.writeHead(status).end();
    if (kind !== 'html') return;
    this.#response.writeHead(status, { 'content-type': 'text/html' }).end('<html><h1>Bad Gateway</h1></html>');
  }

  #send(status: number, body: string): void {
    const headers = { 'content-type': protocols[this.#service].contentType, 'x-amzn-requestid': this.#requestId };
    this.#response.writeHead(status, headers).end(body);
  }
}
