/** Steps about the launch template that the operator creates for a pool. */

import { describeMachine } from '../providers/eks/machine/machine.ts';
import { joined } from '../util/words.ts';
import { changed, type StepKinds, when } from './stepKind.ts';

const subject = () => 'launchTemplate';

export const launchTemplateSteps: StepKinds<
  'createLaunchTemplate' | 'createLaunchTemplateVersion' | 'deleteLaunchTemplateVersions' | 'deleteLaunchTemplate'
> = {
  createLaunchTemplate: {
    subject,
    describe: ({ template: { name, machine } }) => `create launch template ${name}: ${describeMachine(machine)}`,
    reason: 'LaunchTemplateCreated',
    writesAws: true,
    blocks: 'launchTemplate',
    run: async ({ template, token }, soFar, { machineTemplates }, signal) =>
      when(await machineTemplates.create(template, token, signal), (created) =>
        changed(soFar, { machineTemplate: { kind: 'seen', template: created, isNew: true } }),
      ),
  },
  createLaunchTemplateVersion: {
    subject,
    describe: ({ template: { name }, version, change }) =>
      `create version ${version} of launch template ${name}: ${change}`,
    reason: 'LaunchTemplateVersionCreated',
    writesAws: true,
    blocks: 'launchTemplate',
    run: async ({ template: { id }, written, token }, soFar, { machineTemplates }, signal) =>
      when(await machineTemplates.addVersion(id, written, token, signal), (added) => {
        const { machineTemplate: before } = soFar.after;
        if (before?.kind !== 'seen') return soFar;
        const others = before.template.versions.filter(({ version }) => version !== added.version);
        const template = { ...before.template, versions: [added, ...others] };
        return changed(soFar, { machineTemplate: { kind: 'seen', template, isNew: true } });
      }),
  },
  deleteLaunchTemplateVersions: {
    subject,
    describe: ({ template: { name }, versions }) =>
      `delete ${versions.length === 1 ? 'version' : 'versions'} ${joined(versions)} of launch template ${name}`,
    writesAws: true,
    run: async ({ template: { id }, versions: deleted }, soFar, { machineTemplates }, signal) =>
      when(await machineTemplates.deleteVersions(id, deleted, signal), () => {
        const { machineTemplate: before } = soFar.after;
        if (before?.kind !== 'seen') return soFar;
        const versions = before.template.versions.filter(({ version }) => !deleted.includes(version));
        return changed(soFar, { machineTemplate: { kind: 'seen', template: { ...before.template, versions } } });
      }),
  },
  deleteLaunchTemplate: {
    subject,
    describe: ({ template: { name }, why }) => `delete launch template ${name}: ${why}`,
    reason: 'LaunchTemplateDeleted',
    writesAws: true,
    run: async ({ template: { id } }, soFar, { machineTemplates }, signal) =>
      when(await machineTemplates.delete(id, signal), () => changed(soFar, { machineTemplate: { kind: 'absent' } })),
  },
};
