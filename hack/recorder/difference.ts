/** Differences between two versions, and their groups. Pure. */
import type { Json, Kind } from './entry.ts';
import { isFields } from './statusChange.ts';

/**
 * What differs.
 * - `cases`: only one version has the case.
 * - `inputs`: the case or the simulation changed, so it shows nothing about the operator.
 * - `texts`: messages for users, which are no API.
 */
export const GROUPS = [
  'cases',
  'inputs',
  'errors',
  'steps',
  'calls',
  'bodies',
  'reasons',
  'statuses',
  'events',
  'requeues',
  'metrics',
  'texts',
] as const;

export type Group = (typeof GROUPS)[number];

/** One difference. `before` or `after` is undefined where only the other version has it. */
export interface Difference {
  readonly group: Group;
  /** The name of the entry. */
  readonly case: string;
  /** What differs: `call CreateNodegroup.scalingConfig.minSize`, `status.conditions.Ready.reason`. */
  readonly path: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

type FieldDifference = Pick<Difference, 'path' | 'before' | 'after'>;

/** The groups of differences in the data of observations. */
const GROUP_OF: Readonly<Record<Kind, Group>> = {
  step: 'steps',
  pending: 'steps',
  call: 'bodies',
  status: 'statuses',
  event: 'events',
  metrics: 'metrics',
  requeue: 'requeues',
  run: 'requeues',
  action: 'inputs',
  error: 'errors',
};

/** The fields that have texts for users. */
const TEXT =
  /(?:^|\.)(?:message|text|why|warning|cause|change|begins|pendingSteps)(?:\.\d+)?$|\.pendingSteps\.\d+\.description$/;
const REASON = /\.(?:reason|conditions\.\w+(?:\.status)?)$/;

/** The group of a difference in an observation of this kind. */
export function groupOf(kind: Kind, path: string): Group {
  if (kind !== 'error' && TEXT.test(path)) return 'texts';
  return kind === 'status' && REASON.test(path) ? 'reasons' : GROUP_OF[kind];
}

/** The fields that differ, as deep as possible, so that a new field is named alone. */
export function fieldDifferences(path: string, before: Json | undefined, after: Json | undefined): FieldDifference[] {
  if (isSamePendingStep(path, before, after)) return [];
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const [old, now] = [membersOf(before), membersOf(after)];
  const keys = new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})]);
  // A field of a status that is removed is null.
  const isNested = (old || (before ?? null) === null) && (now || (after ?? null) === null);
  if (!isNested || keys.size === 0) return [{ path, before, after }];
  return [...keys].flatMap((key) => fieldDifferences(`${path}.${key}`, old?.[key], now?.[key]));
}

/** Whether it is the same pending step in a version that records only its description, without a reason. */
function isSamePendingStep(path: string, before: Json | undefined, after: Json | undefined): boolean {
  return /\.pendingSteps\.\d+$/.test(path) && isFields(after) && after.description === before;
}

function membersOf(value: Json | undefined): Readonly<Record<string, Json>> | undefined {
  if (Array.isArray(value)) return Object.fromEntries(value.entries()) as Record<string, Json>;
  return isFields(value) ? value : undefined;
}
