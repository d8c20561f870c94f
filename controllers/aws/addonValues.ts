/** The configuration values of an EKS add-on: JSON or YAML, as the user gave them. Both are read, and written back in the same format. */

type Values = Readonly<Record<string, unknown>>;

/** The values as an object; undefined when the text is neither a JSON nor a YAML object. An empty text has none. */
export async function readValues(text: string): Promise<Values | undefined> {
  if (text.trim() === '') return {};
  const json = parseJson(text);
  if (json !== undefined) return asObject(json);
  const document = await yamlDocument(text);
  if (document.errors.length > 0) return undefined;
  try {
    // Comments alone are no values.
    return asObject(document.toJS() ?? {});
  } catch {
    // An alias without an anchor, or more aliases than the package resolves (maxAliasCount, 100).
    return undefined;
  }
}

/**
 * The text with these values set and all others as they were: JSON keeps the order of its keys, YAML its comments, too. Undefined when the text
 * is neither a JSON nor a YAML object.
 */
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

/** Loaded at the first use: most add-ons have JSON, or no values. */
async function yamlDocument(text: string) {
  const { parseYaml } = await import('./yamlDocument.ts');
  return parseYaml(text);
}

function asObject(value: unknown): Values | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Values) : undefined;
}
