/** Whether Windows pods can run on an instance type. Pure. */
import type { InstanceType } from '../ports/prerequisites.ts';
import { whyUnsuitable } from '../sizing/instanceTypes.ts';
import { required } from './check.ts';

/** The name of the check in messages, status and metrics. */
export const INSTANCE_TYPE_CHECK = required('InstanceTypeUnsupported', 'instance-types', 'the instance types');

/** The shared question about these instance types. */
export function instanceTypesQuestion(names: readonly string[]): string {
  return `instance types ${names}`;
}

/** What is wrong with an instance type, without a full stop; undefined if Windows pods can run on it. @param found those that EC2 knows */
export function instanceTypeFault(name: string, found: readonly InstanceType[], region: string): string | undefined {
  const type = found.find((candidate) => candidate.name === name);
  if (!type) return `Instance type ${name} does not exist in ${region}`;
  return whyUnsuitable(type);
}
