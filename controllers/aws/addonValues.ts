/** Reads and changes the configuration values of an EKS add-on, which are JSON or YAML. The format is kept. */

type Values = Readonly<Record<string, unknown>>;

/** Parses the values; undefined if the text is neither a JSON nor a YAML object. */
export async function readValues(text: string): Promise<Values | undefined> {
  if (text.trim() === '') return {};
  const json = parseJson(text);
  if (json !== undefined) return asObject(json);
  const document = await yamlDocument(text);
  if (document.errors.length > 0) return undefined;
  try {
    // Null for a document with comments only.
    return asObject(document.toJS() ?? {});
  } catch {
    // An alias without an anchor, or more aliases than maxAliasCount (100).
    return undefined;
  }
}

/** Sets values and keeps the others, the order of keys, and the comments of YAML. Undefined if the text is neither a JSON nor a YAML object. */
export async function withValues(text: string, changes: Readonly<Record<string, string>>): Promise<string | undefined> {
  const values = await readValues(text);
  if (!values) return undefined;
  if (text.trim() === '' || parseJson(text) !== undefined) return JSON.stringify({ ...values, ...changes });
  const document = await yamlDocument(text);
  for (const [key, value] of Object.entries(changes)) document.set(key, value);
  return document.toString();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Loaded lazily: most add-ons have JSON, or no values. */
async function yamlDocument(text: string) {
  const { parseYaml } = await import('./yamlDocument.ts');
  return parseYaml(text);
}

function asObject(value: unknown): Values | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Values) : undefined;
}
