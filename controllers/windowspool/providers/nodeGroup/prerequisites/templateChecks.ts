/** Checks on the launch template: on the user's, or the operator's. */

import type { CheckInput, PrerequisiteCheck, PrerequisiteResult } from '../model/prerequisiteFacts.ts';
import { templateFaults, templateIn } from '../versions/launchTemplate.ts';
import { failed, given, met } from './check.ts';
import { ownTemplateExists, ownTemplateIsAsWritten, userDataFits } from './machineChecks.ts';

/** Ensures that the version of the launch template exists. */
function exists({ spec, facts, region, creating }: CheckInput): PrerequisiteResult | undefined {
  const wanted = templateIn(spec);
  return given(facts, 'launchTemplate', (template) => {
    if (!wanted || template) return met;
    const what = wanted.id === undefined ? `${wanted.name}` : wanted.id;
    return failed(
      `Launch template ${what} with version ${wanted.version} does not exist in ${region}. ${remedyFor(creating)}`,
    );
  });
}

/** EKS cannot change the template of a group, only its version. */
function remedyFor(creating: boolean): string {
  if (creating) return 'Correct nodeGroup.launchTemplate';
  return 'The node group keeps its version. Correct nodeGroup.launchTemplate.version. If the template was deleted, set nodeGroup.immutableChangePolicy: Replace and another template';
}

/** Ensures that EKS accepts the template: a creation that fails takes 20 minutes and reports one error at a time. */
function fits({ spec, facts }: CheckInput): PrerequisiteResult | undefined {
  return given(facts, 'launchTemplate', (template) => {
    const faults = template ? templateFaults(spec, template) : [];
    if (!template || faults.length === 0) return met;
    return failed(
      `Version ${template.version} of launch template ${template.name} (${template.id}) cannot be used: ${faults.join('; ')}`,
    );
  });
}

/** Checks on the launch template, by importance. */
export const templateChecks: readonly PrerequisiteCheck[] = [
  {
    reason: 'LaunchTemplateNotFound',
    about: 'the launch template',
    section: 'launch-template',
    look: (input) => exists(input) ?? ownTemplateExists(input),
  },
  {
    reason: 'LaunchTemplateInvalid',
    about: 'the settings of the launch template',
    section: 'launch-template-settings',
    look: (input) => fits(input) ?? userDataFits(input) ?? ownTemplateIsAsWritten(input),
  },
];
