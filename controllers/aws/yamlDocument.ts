/**
 * The reader of YAML, a module of its own that is loaded when there is such a text. It imports its package statically: in the bundle a dynamic
 * import of a CommonJS package, which yaml is, has no named exports.
 */
import { type Document, parseDocument } from 'yaml';

/** The document, with its comments; its `errors` say whether it is YAML at all. */
export function parseYaml(text: string): Document {
  return parseDocument(text);
}
