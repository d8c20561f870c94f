/** Every advice check. */
import type { AdviceCheck } from '../model/advice.ts';
import { hyperVChecks } from './hyperVChecks.ts';
import { placementChecks } from './placementChecks.ts';
import { portChecks } from './portChecks.ts';
import { userDataChecks } from './userDataChecks.ts';
import { volumeChecks } from './volumeChecks.ts';
import { warmPoolChecks } from './warmPoolChecks.ts';

/** In the order of status.advice. */
export const checks: readonly AdviceCheck[] = [
  ...userDataChecks,
  ...portChecks,
  ...hyperVChecks,
  ...warmPoolChecks,
  ...placementChecks,
  ...volumeChecks,
];
