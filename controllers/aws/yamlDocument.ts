/** Parses YAML. A separate module, so that it can be loaded lazily: see controllers/kubernetes/roleMappings.ts. */
import { type Document, parseDocument } from 'yaml';

/** Keeps comments. If the text is not YAML, the document has `errors`. */
export function parseYaml(text: string): Document {
  return parseDocument(text);
}
