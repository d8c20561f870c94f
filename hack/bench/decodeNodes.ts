/**
 * `node hack/bench/decodeNodes.ts`: what it costs to read 10,000 Windows nodes off a watch, in protobuf and in JSON, without a network. The
 * runs are interleaved, so that a machine whose speed drifts slows both alike; a busy machine shows in the median, not in the best run.
 */
import { type Decoder, jsonDecoder } from '../../controllers/kubernetes/decoder.ts';
import { nodeFields } from '../../controllers/kubernetes/nodeFields.ts';
import { nodeRecordOf } from '../../controllers/kubernetes/nodes.ts';
import { protobufDecoder } from '../../controllers/kubernetes/protobufDecoder.ts';
import { nodeFrame, stored, windowsNode } from '../../controllers/kubernetes/testing/nodes.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';

const NODES = 10_000;
const RUNS = 7;
/** As large as the pieces that come off a socket. */
const PIECE_BYTES = 64 * 1024;

interface Format {
  readonly name: string;
  readonly decoder: Decoder<NodeRecord>;
  readonly stream: Buffer;
  readonly ms: number[];
  keptBytes: number;
}

function format(name: string, decoder: Decoder<NodeRecord>, events: readonly Buffer[]): Format {
  return { name, decoder, stream: Buffer.concat(events), ms: [], keptBytes: 0 };
}

function read({ decoder, stream }: Format): NodeRecord[] {
  const nodes: NodeRecord[] = [];
  const events = decoder.stream();
  for (let at = 0; at < stream.length; at += PIECE_BYTES) {
    for (const event of events.push(stream.subarray(at, at + PIECE_BYTES))) {
      if ('item' in event) nodes.push(event.item);
    }
  }
  events.end();
  return nodes;
}

/** The heap after a full collection, where one can be asked for (`--expose-gc`). */
function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** Milliseconds of one run. A function of its own, because the records live as long as the frame that names them. */
function measure(one: Format): number {
  const before = heapBytes();
  const start = performance.now();
  const records = read(one);
  const ms = performance.now() - start;
  one.keptBytes = heapBytes() - before;
  if (records.length !== NODES) throw new Error(`${one.name}: ${records.length} nodes of ${NODES}`);
  return ms;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const nodes = Array.from({ length: NODES }, (_, index) => stored(windowsNode(index), index));
const line = (object: object): Buffer => Buffer.from(`${JSON.stringify({ type: 'ADDED', object })}\n`);
const formats = [
  format(
    'protobuf',
    protobufDecoder({ apiVersion: 'v1', kind: 'Node', fields: nodeFields }),
    nodes.map((node) => nodeFrame('ADDED', node)),
  ),
  format('JSON', jsonDecoder(nodeRecordOf), nodes.map(line)),
];
nodes.length = 0;

// The first round warms the compiler up and does not count.
for (let run = 0; run <= RUNS; run++) {
  for (const one of formats) {
    const ms = measure(one);
    if (run > 0) one.ms.push(ms);
  }
}

console.log(`decodeNodes: ${NODES} nodes off a watch, ${RUNS} runs`);
console.table(
  formats.map(({ name, stream, ms, keptBytes }) => ({
    format: name,
    'KB a node': Number((stream.length / NODES / 1000).toFixed(1)),
    'median ms': Number(median(ms).toFixed(0)),
    'best ms': Number(Math.min(...ms).toFixed(0)),
    'us a node': Number(((median(ms) * 1000) / NODES).toFixed(1)),
    'kept MB': globalThis.gc ? Number((keptBytes / 1e6).toFixed(1)) : 'run with --expose-gc',
  })),
);
