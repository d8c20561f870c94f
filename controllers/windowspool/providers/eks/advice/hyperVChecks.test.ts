import type { InstanceType } from '../../../ports/prerequisites.ts';
import { planned, testAdvice, withTemplate } from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';

const type = (name: string, virtualization?: InstanceType['virtualization']): InstanceType => ({
  name,
  architectures: ['x86_64'],
  addressesPerInterface: 10,
  ...(virtualization && { virtualization }),
});
const facts = { instanceTypes: known([type('m5.large'), type('m5.metal', 'always'), type('m8i.large', 'ifEnabled')]) };
const hyperV = { runtimeClass: { name: 'hyper-v', handler: 'runhcs-wcow-hypervisor' } };

/** A pool with Hyper-V isolation on these instance types. */
const on = (...instanceTypes: string[]) => planned(facts, { ...hyperV, nodeGroup: { instanceTypes } });
/** The same with a launch template, which has the instance type. */
const nested = (instanceType: string, isNested: boolean) =>
  withTemplate({ rootVolume: { sizeGiB: 100 }, instanceType, ...(isNested && { isNested: true }) }, facts, {
    ...hyperV,
    nodeGroup: { instanceTypes: undefined },
  });
const none = (names: string) =>
  `HyperVUnavailable: runtimeClass.handler is runhcs-wcow-hypervisor, and ${names} no virtual machines, so pods with this RuntimeClass do not start there. Use metal instance types`;

describe('advice about Hyper-V isolation', () => {
  testAdvice([
    ['process isolation', planned(facts), []],
    ['a metal instance type', on('m5.metal'), []],
    ['an instance type that does not exist', on('m5.none'), []],
    ['an instance type without nested virtualization', on('m5.large'), [`${none('m5.large runs')}.`]],
    ['some types of a pool', on('m5.metal', 'm5.large', 'm8i.large'), [`${none('m5.large and m8i.large run')}.`]],
    [
      'an instance type whose nested virtualization is not enabled',
      on('m8i.large'),
      [`${none('m8i.large runs')}, or a launch template with CpuOptions.NestedVirtualization: enabled.`],
    ],
    [
      'a launch template that does not enable it',
      nested('m8i.large', false),
      [`${none('m8i.large runs')}, or a launch template with CpuOptions.NestedVirtualization: enabled.`],
    ],
    ['a launch template that enables it', nested('m8i.large', true), []],
    ['a launch template that enables it for another type', nested('m5.large', true), [`${none('m5.large runs')}.`]],
  ]);
});
