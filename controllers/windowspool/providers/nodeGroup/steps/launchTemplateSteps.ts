/** Steps about the launch template that the operator creates for a pool. */

import type { Outcome } from '../../../model/outcome.ts';
import type { OwnTemplate, OwnTemplateVersion } from '../../../ports/ownTemplates.ts';
import { changed, type StepKinds, when } from '../../../steps/stepKind.ts';
import { joined } from '../../../util/words.ts';
import { describeLaunchSettings } from '../launchTemplate/launchSettings.ts';
import type { EksState } from '../model/groupState.ts';

const subject = () => 'launchTemplate';

type TemplateRef = Pick<OwnTemplate, 'id' | 'name'>;

declare module '../../../model/steps.ts' {
  interface Steps {
    /** Creates the launch template of a pool that sets launch settings. */
    createLaunchTemplate: {
      template: Pick<OwnTemplate, 'name' | 'tags'> & Pick<OwnTemplateVersion, 'launchSettings' | 'description'>;
      token: string;
    };
    /** Adds a version to it. */
    createLaunchTemplateVersion: {
      template: TemplateRef;
      /** Its expected number. */
      version: string;
      written: Pick<OwnTemplateVersion, 'launchSettings' | 'description'>;
      /** A description of what differs from the version of the group. */
      change: string;
      token: string;
    };
    deleteLaunchTemplateVersions: { template: TemplateRef; versions: readonly string[] };
    deleteLaunchTemplate: { template: TemplateRef; why: string };
  }
}

export const launchTemplateSteps: StepKinds<
  'createLaunchTemplate' | 'createLaunchTemplateVersion' | 'deleteLaunchTemplateVersions' | 'deleteLaunchTemplate'
> = {
  createLaunchTemplate: {
    subject,
    describe: ({ template: { name, launchSettings } }) =>
      `create launch template ${name}: ${describeLaunchSettings(launchSettings)}`,
    reason: 'LaunchTemplateCreated',
    writesAws: true,
    blocks: 'launchTemplate',
    run: async ({ template, token }, outcome: Outcome<EksState>, { ownTemplates }, signal) =>
      when(await ownTemplates.create(template, token, signal), (created) =>
        changed(outcome, { ownTemplate: { kind: 'seen', template: created, isNew: true } }),
      ),
  },
  createLaunchTemplateVersion: {
    subject,
    describe: ({ template: { name }, version, change }) =>
      `create version ${version} of launch template ${name}: ${change}`,
    reason: 'LaunchTemplateVersionCreated',
    writesAws: true,
    blocks: 'launchTemplate',
    run: async ({ template: { id }, written, token }, outcome: Outcome<EksState>, { ownTemplates }, signal) =>
      when(await ownTemplates.addVersion(id, written, token, signal), (added) => {
        const { ownTemplate: before } = outcome.after;
        if (before?.kind !== 'seen') return outcome;
        const others = before.template.versions.filter(({ version }) => version !== added.version);
        const template = { ...before.template, versions: [added, ...others] };
        return changed(outcome, { ownTemplate: { kind: 'seen', template, isNew: true } });
      }),
  },
  deleteLaunchTemplateVersions: {
    subject,
    describe: ({ template: { name }, versions }) =>
      `delete ${versions.length === 1 ? 'version' : 'versions'} ${joined(versions)} of launch template ${name}`,
    writesAws: true,
    run: async ({ template: { id }, versions: deleted }, outcome: Outcome<EksState>, { ownTemplates }, signal) =>
      when(await ownTemplates.deleteVersions(id, deleted, signal), () => {
        const { ownTemplate: before } = outcome.after;
        if (before?.kind !== 'seen') return outcome;
        const versions = before.template.versions.filter(({ version }) => !deleted.includes(version));
        return changed(outcome, { ownTemplate: { kind: 'seen', template: { ...before.template, versions } } });
      }),
  },
  deleteLaunchTemplate: {
    subject,
    describe: ({ template: { name }, why }) => `delete launch template ${name}: ${why}`,
    reason: 'LaunchTemplateDeleted',
    writesAws: true,
    run: async ({ template: { id } }, outcome: Outcome<EksState>, { ownTemplates }, signal) =>
      when(await ownTemplates.delete(id, signal), () => changed(outcome, { ownTemplate: { kind: 'absent' } })),
  },
};
