import type { InstanceType } from '../../../ports/prerequisites.ts';
import { adviceTable, planned, withTemplate } from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';

const testAdvice = adviceTable('checks/hyperVCheck');

const type = (name: string, virtualization?: InstanceType['virtualization']): InstanceType => ({
  name,
  architectures: ['x86_64'],
  addressesPerInterface: 10,
  ...(virtualization && { virtualization }),
});
const facts = {
  instanceFeatures: known([type('m5.large'), type('m5.metal', 'always'), type('m8i.large', 'ifEnabled')]),
};
const hyperV = { runtimeClass: { name: 'hyper-v', handler: 'runhcs-wcow-hypervisor' } };

/** A pool with Hyper-V isolation on these instance types. */
const on = (...instanceTypes: string[]) => planned(facts, { ...hyperV, nodeGroup: { instanceTypes } });
/** The same with a launch template, which has the instance type. */
const nested = (instanceType: string, isNested: boolean) =>
  withTemplate({ rootVolume: { sizeGiB: 100 }, instanceType, ...(isNested && { isNested: true }) }, facts, {
    ...hyperV,
    nodeGroup: { instanceTypes: undefined },
  });

describe('advice about Hyper-V isolation', () => {
  testAdvice([
    ['process isolation', planned(facts), []],
    ['a metal instance type', on('m5.metal'), []],
    ['an instance type that does not exist', on('m5.none'), []],
    [
      'an instance type without nested virtualization',
      on('m5.large'),
      [['HyperVUnavailable', 'runtimeClass.handler', 'runhcs-wcow-hypervisor', 'm5.large']],
    ],
    [
      'some types of a pool',
      on('m5.metal', 'm5.large', 'm8i.large'),
      [['HyperVUnavailable', 'runtimeClass.handler', 'runhcs-wcow-hypervisor', 'm5.large', 'm8i.large']],
    ],
    [
      'an instance type whose nested virtualization is not enabled',
      on('m8i.large'),
      [
        [
          'HyperVUnavailable',
          'runtimeClass.handler',
          'runhcs-wcow-hypervisor',
          'm8i.large',
          'CpuOptions.NestedVirtualization',
        ],
      ],
    ],
    [
      'a launch template that does not enable it',
      nested('m8i.large', false),
      [
        [
          'HyperVUnavailable',
          'runtimeClass.handler',
          'runhcs-wcow-hypervisor',
          'm8i.large',
          'CpuOptions.NestedVirtualization',
        ],
      ],
    ],
    ['a launch template that enables it', nested('m8i.large', true), []],
    [
      'a launch template that enables it for another type',
      nested('m5.large', true),
      [['HyperVUnavailable', 'runtimeClass.handler', 'runhcs-wcow-hypervisor', 'm5.large']],
    ],
  ]);
});
