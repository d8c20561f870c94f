import { advises, met, notMet } from '../../../checks/check.ts';
import { joined } from '../../../util/words.ts';
import { instanceTypesOf, resolvedTemplate, templateIn } from '../versions/userLaunchTemplate.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';

/** The handler of containerd for Hyper-V isolation: https://github.com/containerd/containerd/blob/main/internal/cri/config/config_windows.go */
const HYPER_V = 'runhcs-wcow-hypervisor';

/**
 * Hyper-V isolation starts a virtual machine for each pod. On EC2, metal instances can do that, and of the others only the types with nested
 * virtualization, if the launch template enables it ("supported only on 8th generation Intel-based instance types (c8i, m8i, r8i, and their flex
 * variants)": LaunchTemplateCpuOptionsRequest.NestedVirtualization in the model of EC2). Whether EKS applies that setting is reported differently:
 * no in https://github.com/aws/containers-roadmap/issues/2784, yes in https://github.com/coder/envbox/pull/176.
 */
export const hyperV: NodeGroupCheck = {
  ...advises('HyperVUnavailable', 'hyper-v'),
  needs: ['instanceFeatures', 'launchTemplate'],
  evaluate({ spec, facts }) {
    if (spec.runtimeClass.handler !== HYPER_V) return met;
    const template = resolvedTemplate(facts);
    if (templateIn(spec) && !template) return undefined;
    return given(facts, 'instanceFeatures', (found) => {
      const types = instanceTypesOf(spec, template).flatMap((name) => found.find((type) => type.name === name) ?? []);
      const without = types.filter(({ virtualization }) => virtualization === undefined);
      const disabled = types.filter(({ virtualization }) => virtualization === 'ifEnabled' && !template?.isNested);
      const names = joined([...without, ...disabled].map(({ name }) => name));
      if (names === '') return met;
      const remedy =
        without.length > 0
          ? 'Use metal instance types'
          : 'Use metal instance types, or a launch template with CpuOptions.NestedVirtualization: enabled';
      const verb = without.length + disabled.length === 1 ? 'runs' : 'run';
      return notMet(
        `runtimeClass.handler is ${HYPER_V}, and ${names} ${verb} no virtual machines, so pods with this RuntimeClass do not start there. ${remedy}`,
      );
    });
  },
};
