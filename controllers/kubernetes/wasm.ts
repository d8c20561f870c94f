/** The WebAssembly files of the packages that parse PowerShell. In the bundles, hack/bundle.ts replaces this module: they contain the files. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The grammar. */
export const grammar: Uint8Array = readFileSync(
  fileURLToPath(import.meta.resolve('tree-sitter-powershell/tree-sitter-powershell.wasm')),
);

/** The program that parses with it. */
export const treeSitter: Uint8Array = readFileSync(
  fileURLToPath(import.meta.resolve('web-tree-sitter/web-tree-sitter.wasm')),
);
