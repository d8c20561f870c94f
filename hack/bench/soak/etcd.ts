/** Compaction of the benchmark's etcd: one handwritten gRPC call, because nothing else here uses gRPC. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { etcdClientUrl } from '../../controlplane/components.ts';
import type { ControlPlane } from '../../controlplane/controlplane.ts';

const TIMEOUT_MS = 30_000;
/** https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */
const HEADERS = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };

/** Deletes the history before this revision, which is a resourceVersion of Kubernetes: no watch can continue from an older one. */
export async function compact(controlPlane: ControlPlane, revision: number): Promise<void> {
  const url = etcdClientUrl(await readFile(join(controlPlane.dir, 'logs', 'etcd.log'), 'utf8'));
  if (!url) throw new Error("etcd's log does not name its port.");
  const session = connect(url);
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const stream = session.request({ ...HEADERS, ':path': '/etcdserverpb.KV/Compact' }, { signal });
    stream.resume().end(frame(compactionRequest(revision)));
    const [trailers] = await once(stream, 'trailers', { signal });
    if (trailers['grpc-status'] !== '0') throw new Error(`etcd refused to compact: ${trailers['grpc-message']}`);
  } finally {
    session.destroy();
  }
}

/** etcdserverpb.CompactionRequest {revision = 1, physical = 2}, from rpc.proto of etcd 3.6. */
export function compactionRequest(revision: number): Uint8Array {
  return Uint8Array.of(0x08, ...varint(revision), 0x10, 1);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...varint(Math.floor(value / 0x80))];
}

/** Not compressed, and the length in four bytes. */
function frame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
