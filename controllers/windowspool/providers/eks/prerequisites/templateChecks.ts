/** Checks on the user's launch template. */

import type { CheckInput, PrerequisiteCheck, PrerequisiteResult } from '../../../model/prerequisites.ts';
import { templateFaults, templateIn } from '../upgrades/launchTemplate.ts';
import { failed, given, met } from './check.ts';

/** Ensures that the version of the launch template exists. */
function exists({ spec, facts, region, creating }: CheckInput): PrerequisiteResult | undefined {
  const wanted = templateIn(spec);
  return given(facts, 'launchTemplate', (template) => {
    if (!wanted || template) return met;
    const what = wanted.id === undefined ? `${wanted.name}` : wanted.id;
    return failed(
      `EC2 knows no launch template ${what} with version ${wanted.version} in ${region}. ${remedyFor(creating)}`,
    );
  });
}

/** A group never changes its template, only the version. */
function remedyFor(creating: boolean): string {
  if (creating) return 'Put nodeGroup.launchTemplate right';
  return 'The node group keeps the version that it has. Put nodeGroup.launchTemplate.version right; when the template is gone, only another WindowsPool can have another one';
}

/** Ensures that EKS accepts the template: a failed group takes twenty minutes and reports one error at a time. */
function fits({ spec, facts }: CheckInput): PrerequisiteResult | undefined {
  return given(facts, 'launchTemplate', (template) => {
    const faults = template ? templateFaults(spec, template) : [];
    if (!template || faults.length === 0) return met;
    return failed(
      `Launch template ${template.name} (${template.id}) cannot be used in version ${template.version}: ${faults.join('; ')}`,
    );
  });
}

/** Checks on the launch template, by importance. */
export const templateChecks: readonly PrerequisiteCheck[] = [
  { reason: 'LaunchTemplateNotFound', about: 'the launch template', section: 'launch-template', look: exists },
  {
    reason: 'LaunchTemplateUnfit',
    about: "the launch template's settings",
    section: 'launch-template-settings',
    look: fits,
  },
];
