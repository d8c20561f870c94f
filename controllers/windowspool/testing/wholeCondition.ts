import type { Condition, WindowsPool } from '../api/api.gen.ts';

/** A condition of a pool, with the text to which it refers: `See Ready.` is replaced with the message of Ready. */
export function wholeCondition(pool: WindowsPool | undefined, conditionType: string): Condition | undefined {
  const conditions = pool?.status?.conditions ?? [];
  const found = conditions.find(({ type }) => type === conditionType);
  const isAlone = ['Stalled', 'Reconciling'].includes(conditionType);
  const whole = found?.message.replace(isAlone ? /See (\w+)\.$/ : /See (Ready)\.$/, (reference, to: string) => {
    return conditions.find(({ type }) => type === to)?.message ?? reference;
  });
  return found && whole !== undefined ? { ...found, message: whole } : undefined;
}
