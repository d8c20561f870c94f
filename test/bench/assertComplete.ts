import assert from 'node:assert/strict';
import type { Result } from '../../hack/bench/section.ts';

/** Fails if a section has no figures, or one without a value, or found what must never happen. */
export function assertComplete({ rows, figures }: Result): void {
  assert.ok(rows.length > 0 && figures.length > 0);
  assert.deepEqual(
    figures.filter(({ value, spread }) => !Number.isFinite(value + (spread?.low ?? 0) + (spread?.high ?? 0))),
    [],
  );
  const exact = figures.filter(({ isExact }) => isExact);
  assert.deepEqual(
    exact.map(({ name, value }) => [name, value]),
    exact.map(({ name, goal }) => [name, goal]),
  );
}
