import assert from 'node:assert/strict';
import type { NodeRecord } from '../../windowspool/ports/nodes.ts';

/** Asserts that every value of a record has the type that it has in `model`, the record of a healthy node. */
export function assertWellFormed(record: NodeRecord, model: NodeRecord): void {
  const { ownership, verified, ...others } = record;
  assert.ok(ownership === undefined || typeof ownership === 'string');
  assert.ok(verified === undefined || isText(verified));
  for (const [name, value] of Object.entries(others)) {
    const expected: unknown = model[name as keyof NodeRecord];
    assert.deepEqual([typeof value, Array.isArray(value)], [typeof expected, Array.isArray(expected)], name);
    if (typeof value === 'number') assert.ok(Number.isFinite(value), name);
    if (typeof value === 'object') assert.ok(Object.values(value).every(isText), name);
  }
  for (const name of ['name', 'uid', 'resourceVersion'] as const) assert.notEqual(record[name], '', name);
  assert.ok(['True', 'False', 'Unknown'].includes(record.ready));
  assert.deepEqual(Object.keys(record), Object.keys(model));
}

/** Whether a value is a string, or an object of strings. */
function isText(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.values(value).every(isText) : typeof value === 'string';
}
