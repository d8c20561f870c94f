/** The flag --output. */
import { stringify } from 'yaml';

export const OUTPUT_FORMATS = ['json', 'yaml', 'wide'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** The value as JSON or YAML, for scripts. */
export function serialized(value: unknown, format: 'json' | 'yaml'): string {
  return format === 'json' ? JSON.stringify(value, undefined, 2) : stringify(value, { lineWidth: 0 }).trimEnd();
}
