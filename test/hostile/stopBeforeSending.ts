/**
 * Loaded into a process of the operator, before the operator: stops it (SIGSTOP) when everything was checked and the next thing would be to hand a
 * request to its connection. The first line of the file STOP_BEFORE_SENDING is its method and the end of its path. Each file stops one process once.
 */
import { readFileSync, rmSync } from 'node:fs';
import { ClientRequest } from 'node:http';

const { STOP_BEFORE_SENDING: file } = process.env;
if (file) {
  const { end } = ClientRequest.prototype;
  ClientRequest.prototype.end = function (this: ClientRequest, ...args: unknown[]) {
    if (isNamed(file, this)) {
      rmSync(file);
      process.kill(process.pid, 'SIGSTOP');
    }
    return end.apply(this, args as Parameters<typeof end>);
  } as typeof end;
}

function isNamed(path: string, request: ClientRequest): boolean {
  const [method, end] = read(path).trim().split(' ');
  return request.method === method && end !== undefined && request.path.endsWith(end);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
