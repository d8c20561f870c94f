/**
 * How much memory nodes with many labels take in the cache, and how long they take to decode: `node --expose-gc hack/bench/nodeLabels.ts`. Feature discovery sets
 * hundreds of labels on a node, most of them with the same value on many nodes.
 */
import { protobufReader } from '../../controllers/kubernetes/fields.ts';
import { MessageReader } from '../../controllers/kubernetes/messageReader.ts';
import { nodeFieldsWithoutImages } from '../../controllers/kubernetes/nodeFields.ts';
import { map, message } from '../../controllers/kubernetes/testing/protobufWriter.ts';

const NODES = 10_000;

/** Which labels a node has: by the number of the node and of the label. */
const KINDS: Readonly<Record<string, (node: number, index: number) => readonly [key: string, value: string]>> = {
  'the same values on all nodes': (_node, index) => [`feature.example.com/cpu-${index}`, 'true'],
  'a fifth of the values differ': (node, index) => [
    `feature.example.com/cpu-${index}`,
    index % 5 === 0 ? `v-${node}-${index}` : 'true',
  ],
  'all values differ': (node, index) => [`feature.example.com/cpu-${index}`, `v-${node}-${index}`],
};

const read = protobufReader(nodeFieldsWithoutImages);
const { gc } = globalThis;
if (!gc) throw new Error('run it with node --expose-gc');

for (const [what, labelOf] of Object.entries(KINDS))
  for (const count of [30, 500]) {
    collect();
    const before = process.memoryUsage().heapUsed;
    const { decoding, heapUsed } = decoded(count, labelOf);
    const figures = `${Math.round((heapUsed - before) / 1e6)} MB, ${Math.round(decoding)} ms to decode`;
    console.log(`${NODES} nodes with ${count} labels, ${what}: ${figures}`);
  }

/** Decodes the nodes, and returns the heap while all of them are kept. */
function decoded(count: number, labelOf: (node: number, index: number) => readonly [string, string]) {
  let decoding = 0;
  const records = Array.from({ length: NODES }, (_, node) => {
    const labels = Object.fromEntries(Array.from({ length: count }, (_, index) => labelOf(node, index)));
    const metadata = message([1, `node-${node}`], [5, `uid-${node}`], [6, '1'], ...map(11, labels, (value) => value));
    const bytes = message([1, metadata]);
    const began = performance.now();
    const record = read(new MessageReader(bytes, 0, bytes.length));
    decoding += performance.now() - began;
    return record;
  });
  collect();
  const { heapUsed } = process.memoryUsage();
  return { decoding, heapUsed, records };
}

function collect(): void {
  for (let round = 0; round < 3; round++) gc?.();
}
