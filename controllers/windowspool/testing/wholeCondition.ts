import type { Condition, WindowsPool } from '../api/api.gen.ts';

/** A condition of a pool, with the text to which it refers: `See Ready.` is replaced with the message of Ready. */
export function wholeCondition(pool: WindowsPool | undefined, conditionType: string): Condition | undefined {
  const conditions = pool?.status?.conditions ?? [];
  const found = conditions.find(({ type }) => type === conditionType);
  const ready = conditions.find(({ type }) => type === 'Ready');
  const whole = found?.message.replace(/See Ready\.$/, () => ready?.message ?? '');
  return found && whole !== undefined ? { ...found, message: whole } : undefined;
}
