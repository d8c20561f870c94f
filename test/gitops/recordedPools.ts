/** Pools that were recorded in the cluster suites, so that their health in GitOps tools is tested without a cluster. */
import { readdirSync, readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { normalized } from '../goldenText.ts';

const FOLDER = new URL('../golden/pools/', import.meta.url);

/** The fields of an object that such tools read. */
export interface RecordedPool {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly generation: number; readonly deletionTimestamp?: string };
  readonly status?: Pick<NonNullable<WindowsPool['status']>, 'observedGeneration' | 'conditions'>;
}

/** The text of a recording, without values that differ between runs. */
export function recordingOf({ apiVersion, kind, metadata, status }: WindowsPool): string {
  const { name, generation, deletionTimestamp } = metadata;
  const { observedGeneration, conditions } = status ?? {};
  const pool: RecordedPool = {
    apiVersion,
    kind,
    metadata: { name, generation, ...(deletionTimestamp && { deletionTimestamp }) },
    ...(status && { status: { observedGeneration, ...(conditions && { conditions }) } }),
  } as RecordedPool;
  return normalized(stringify(pool, { lineWidth: 0 }));
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
