/** The prose of YAML and JSON: comments, and the texts under keys that hold text for people. */
import { isScalar, LineCounter, parseAllDocuments, Scalar, visit } from 'yaml';
import { type Block, linesOf, type ProseLine } from './block.ts';

const TEXTS = new Set(['description', 'message', 'summary', 'title']);

/** A block for each run of lines that end in a `#` comment. Also for other files with such comments: a Makefile, a Helm template. */
export function commentsOf(source: string): Block[] {
  const blocks: ProseLine[][] = [];
  for (const [index, whole] of source.split('\n').entries()) {
    const start = /^(?:\s*|.*?\s)#+(?= )/.exec(whole)?.[0].length;
    if (start === undefined) continue;
    const line = { text: whole.slice(start + 1), line: index + 1, column: start + 2 };
    if (blocks.at(-1)?.at(-1)?.line === index) blocks.at(-1)?.push(line);
    else blocks.push([line]);
  }
  return blocks;
}

export function textsOf(source: string): Block[] {
  const blocks: Block[] = [];
  const lines = new LineCounter();
  for (const document of parseAllDocuments(source, { lineCounter: lines })) {
    visit(document, {
      Pair(_, { key, value }) {
        if (!isScalar(key) || !TEXTS.has(String(key.value)) || !isScalar(value) || !value.range) return;
        const [start, end] = value.range;
        const { line, col } = lines.linePos(start);
        const texts = linesOf(source.slice(start, end), line, col, /^\s*["']?/);
        // The first line of a block scalar is its header, such as `>-`.
        const block = value.type === Scalar.BLOCK_FOLDED || value.type === Scalar.BLOCK_LITERAL;
        blocks.push(block ? texts.slice(1) : texts);
      },
    });
  }
  return blocks;
}
