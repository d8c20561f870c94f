/** Pools as the cluster suites saw them, kept in files: what GitOps tools make of them is tested without a cluster. */
import { readdirSync, readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import { withoutChance } from '../goldenText.ts';

const FOLDER = new URL('../golden/pools/', import.meta.url);

/** What such tools read of an object. */
export interface RecordedPool {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly generation: number; readonly deletionTimestamp?: string };
  readonly status?: Pick<NonNullable<WindowsPool['status']>, 'observedGeneration' | 'conditions'>;
}

/** The text of a recording, without what differs from run to run. */
export function recordingOf({ apiVersion, kind, metadata, status }: WindowsPool): string {
  const { name, generation, deletionTimestamp } = metadata;
  const { observedGeneration, conditions } = status ?? {};
  const pool: RecordedPool = {
    apiVersion,
    kind,
    metadata: { name, generation, ...(deletionTimestamp && { deletionTimestamp }) },
    ...(status && { status: { observedGeneration, ...(conditions && { conditions }) } }),
  } as RecordedPool;
  return withoutChance(stringify(pool, { lineWidth: 0 }));
}

/** Names of all recordings, such as `creating`. */
export function recordings(): string[] {
  return readdirSync(FOLDER)
    .map((name) => name.replace(/\.yaml$/, ''))
    .sort();
}

/** A recording. */
export function recordedPool(name: string): RecordedPool {
  return parse(readFileSync(new URL(`${name}.yaml`, FOLDER), 'utf8'));
}
