/**
 * Specs that the schema of the CRD accepts, generated from the schema itself. Its CEL rules are not evaluated, so some specs contradict themselves: no
 * source of nodes or two, a minimum above the maximum, reserved keys. No such pool can be created, but one may exist from before a rule.
 */
import fc from 'fast-check';
import type { WindowsPoolSpec } from '../api/api.gen.ts';
import { keyOfItem, type Schema, specSchema, violations, withDefaults } from './crdSchema.ts';

/** Values of fields that are more specific than their pattern. Those that the schema rejects are left out. */
const SPECIFIC: Readonly<Record<string, readonly string[]>> = {
  schedule: ['0 2 * * SAT', '* * * * *', '0 0 30 2 *', '99 * * * *', '*/5 0-23 L * MON#2', '0 0 29 2 MON#5'],
  timeZone: ['Europe/Berlin', 'Pacific/Kiritimati', 'Mars/Olympus', '', '+23:59', 'utc'],
  timeout: ['0s', '1m', '999999h999999h'],
  gracePeriod: ['0s', '999999h999999h'],
  unhealthyAfter: ['0s', '999999h999999h'],
  duration: ['0s', '999999h999999h', '1h'],
};
/** Characters that change a text around them, a message, a path or a regular expression. */
const hostile = fc.constantFrom(...'a.é🪟 \u0000\u001b\n\u202e"\'\\/~{}$[]()*+?|%');

/** Keys of maps. Only the CEL rules limit them; what they must not exceed is at least kept in length. */
const anyKey = drawnFrom(
  fc.oneof(
    fc.constantFrom('', '__proto__', 'constructor', 'kubernetes.io/os', 'winpool.dev/pool', 'aws:x', 'k'.repeat(63)),
    fc.stringMatching(/^[a-z]{1,8}(\/[a-z]{1,8})?$/),
    fc.string({ unit: hostile }),
  ),
);

/** The spec of a stored pool: with the defaults of the schema. */
export const anySpec: fc.Arbitrary<WindowsPoolSpec> = arbitraryOf(specSchema).map((value) => {
  const spec = withObject(withDefaults(specSchema, value) as WindowsPoolSpec);
  const { nodeGroup } = spec;
  const template = nodeGroup?.launchTemplate;
  // Messages show one of them.
  if (!template || template.id || template.name) return spec;
  return { ...spec, nodeGroup: { ...nodeGroup, launchTemplate: { ...template, name: 'windows' } } };
});

/** With the object that has the Machines: every version of the schema has required one. */
function withObject(spec: WindowsPoolSpec): WindowsPoolSpec {
  const { machines } = spec;
  if (!machines || machines.ref || machines.template) return spec;
  const ref = { apiVersion: 'machine.openshift.io/v1beta1', kind: 'MachineSet', namespace: 'a', name: 'a' } as const;
  return { ...spec, machines: { ...machines, ref } };
}

function arbitraryOf(schema: Schema, name = ''): fc.Arbitrary<unknown> {
  if (schema['x-kubernetes-int-or-string']) return fc.oneof(numberOf(schema), textOf(schema, name));
  if (schema['x-kubernetes-preserve-unknown-fields']) return fc.dictionary(anyKey, fc.jsonValue());
  switch (schema.type) {
    case 'object':
      return schema.properties ? objectOf(schema) : mapOf(schema);
    case 'array':
      return listOf(schema);
    case 'integer':
      return numberOf(schema);
    case 'boolean':
      return fc.boolean();
    default:
      return textOf(schema, name);
  }
}

function objectOf({ properties = {}, required = [], minProperties = 0 }: Schema): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([name, schema]) => [name, arbitraryOf(schema, name)] as const);
  return fc
    .record(Object.fromEntries(fields), { requiredKeys: [...required], noNullPrototype: true })
    .filter((value) => Object.keys(value).length >= minProperties);
}

function mapOf({ additionalProperties = {}, minProperties = 0, maxProperties = 0 }: Schema): fc.Arbitrary<unknown> {
  const entry = fc.tuple(anyKey, arbitraryOf(additionalProperties));
  return mostlyShort(minProperties, maxProperties, (bounds) =>
    fc.uniqueArray(entry, { ...bounds, selector: ([key]) => key }).map((entries) => Object.fromEntries(entries)),
  );
}

function listOf(schema: Schema): fc.Arbitrary<unknown> {
  const { items = {}, minItems = 0, maxItems = 0 } = schema;
  const item = arbitraryOf(items);
  const selector = keyOfItem(schema);
  return mostlyShort(minItems, maxItems, (bounds) =>
    selector ? fc.uniqueArray(item, { ...bounds, selector }) : fc.array(item, bounds),
  );
}

interface Bounds {
  readonly minLength: number;
  readonly maxLength: number;
  readonly size: 'max';
}

/** Lists and maps of any length, of which a tenth is long: those take most of the time. */
function mostlyShort(least: number, most: number, arbitrary: (bounds: Bounds) => fc.Arbitrary<unknown>) {
  const ofAtMost = (length: number) => arbitrary({ minLength: least, maxLength: length, size: 'max' });
  return fc.oneof({ weight: 9, arbitrary: ofAtMost(Math.min(3, most)) }, { weight: 1, arbitrary: ofAtMost(most) });
}

function numberOf({ minimum = -(2 ** 31), maximum = 2 ** 31 - 1 }: Schema): fc.Arbitrary<number> {
  return fc.integer({ min: minimum, max: maximum });
}

function textOf(schema: Schema, name: string): fc.Arbitrary<string> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const accepted = (text: string) => violations({ ...schema, type: 'string' }, text).length === 0;
  const specific = (SPECIFIC[name] ?? []).filter(accepted);
  const { pattern, maxLength = 300 } = schema;
  const text = pattern
    ? fc.stringMatching(new RegExp(pattern, 'u')).filter(accepted)
    : fc.oneof(fc.string({ unit: hostile, maxLength }), fc.constant('.'.repeat(maxLength)));
  return drawnFrom(specific.length > 0 ? fc.oneof(text, fc.constantFrom(...specific)) : text);
}

/** Some of these texts: a text of a pattern takes longer to generate than the rest of the test. */
function drawnFrom(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.constantFrom(...fc.sample(texts, { numRuns: 100, seed: 1 }));
}
