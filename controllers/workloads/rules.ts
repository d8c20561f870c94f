/** All rules about workloads. */
import { PLACEMENT_RULES } from './placementRules.ts';
import { RESOURCE_RULES } from './resourceRules.ts';
import type { Rule } from './rule.ts';
import { SECURITY_RULES } from './securityRules.ts';

/** All rules, in the order of the documentation. */
export const RULES: readonly Rule[] = [...PLACEMENT_RULES, ...SECURITY_RULES, ...RESOURCE_RULES];

/** The names of the rules that compare images with a Windows build. */
export const IMAGE_RULES: readonly string[] = RULES.map(({ name }) => name).filter((name) =>
  name.startsWith('ImageFor'),
);
