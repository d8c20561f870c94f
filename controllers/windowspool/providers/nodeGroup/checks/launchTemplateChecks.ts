/** Checks on the launch template: on the user's, or the operator's. */

import { type Answer, met, notMet, required, warning } from '../../../checks/check.ts';
import type { LaunchTemplate } from '../../../ports/prerequisites.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { joined } from '../../../util/words.ts';
import type { CheckInput } from '../model/checkFacts.ts';
import { templateFaults, templateIn } from '../versions/userLaunchTemplate.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';

/** Ensures that there is a launch template. */
export const launchTemplate: NodeGroupCheck = {
  ...required('LaunchTemplateNotFound', 'launch-template', 'the launch template'),
  needs: ['launchTemplate'],
  evaluate: (input) => exists(input) ?? ownTemplateExists(input),
};

/** Ensures that the version of the launch template exists. */
function exists({ spec, facts, region, creating }: CheckInput): Answer | undefined {
  const wanted = templateIn(spec);
  return given(facts, 'launchTemplate', (template) => {
    if (!wanted || template) return met;
    const what = wanted.id === undefined ? `${wanted.name}` : wanted.id;
    return notMet(
      `Launch template ${what} with version ${wanted.version} does not exist in ${region}. ${remedyFor(creating)}`,
    );
  });
}

/** EKS cannot change the template of a group, only its version. */
function remedyFor(creating: boolean): string {
  if (creating) return 'Correct nodeGroup.launchTemplate';
  return 'The node group keeps its version. Correct nodeGroup.launchTemplate.version. If the template was deleted, set nodeGroup.immutableChangePolicy: Replace and another template';
}

/** Ensures that nodes can be launched from the launch template. */
export const launchTemplateSettings: NodeGroupCheck = {
  ...required('LaunchTemplateInvalid', 'launch-template-settings', 'the settings of the launch template'),
  explainsAsWarning: ['NodesMissing', 'NodeCreationFailure'],
  needs: ['launchTemplate', 'controlPlaneRules'],
  evaluate: (input) => fits(input) ?? userDataFits(input) ?? ownTemplateIsAsWritten(input),
};

/** Ensures that EKS accepts the template: a creation that fails takes 20 minutes and reports one error at a time. */
function fits({ spec, facts, cluster }: CheckInput): Answer | undefined {
  return given(facts, 'launchTemplate', (template) => {
    const faults = template ? templateFaults(spec, template, cluster, facts) : [];
    if (!template) return met;
    if (faults.length === 0) return given(facts, 'controlPlaneRules', () => undefined) ?? endsEarly(template);
    return notMet(
      `Version ${template.version} of launch template ${template.name} (${template.id}) cannot be used: ${faults.join('; ')}`,
    );
  });
}

/**
 * Warns if the user data ends before the commands that EKS puts after it, within one tag, and that make the node join. Source:
 * https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-user-data
 */
function endsEarly({ name, id, version, earlyEnd }: LaunchTemplate): Answer {
  if (!earlyEnd) return met;
  const { command, line } = earlyEnd;
  const instead =
    command === 'a restart'
      ? 'Remove the restart'
      : `Put the commands into a script block (& { … }), and use return in it`;
  return warning(
    `The user data in version ${version} of launch template ${name} (${id}) has ${command} in line ${line}. EKS puts the commands that make the node join after it, in the same script, so they do not run, and the node does not join. ${instead}`,
  );
}

/** Ensures that a template with the name of the pool's is the pool's: another one is never changed or deleted. */
export const launchTemplateOwner: NodeGroupCheck = {
  ...required('LaunchTemplateNotOwned', 'launch-template-owner', "the owner of the pool's launch template"),
  evaluate({ ownTemplate: seen }) {
    if (!seen?.found || seen.isOwn) return seen && met;
    const { name, id } = seen.found;
    const tags = Object.entries(seen.ownerTags).map(([key, value]) => `${key}=${value}`);
    const remedy = `aws ec2 delete-launch-template --launch-template-id ${id}`;
    return notMet(
      `Launch template ${name} (${id}) exists but does not have the tags ${joined(tags)}, so the operator does not change it. If the pool may use it, set the tags. Otherwise, delete it (${remedy})`,
    );
  },
};

/** Ensures that the template of an existing group was not deleted: EKS cannot give the group another one. */
function ownTemplateExists(input: CheckInput): Answer | undefined {
  const { ownTemplate: seen, spec, canaryNodes } = input;
  if (seen?.ofGroup?.name !== seen?.name || !seen?.ofGroup || seen.ofGroup.id === seen.found?.id) return undefined;
  const { id, version } = seen.ofGroup;
  const text = `Launch template ${seen.name} (${id}), from which the node group was created, was deleted. The node group keeps the settings of version ${version}`;
  if (nodeGroupIn(spec).immutableChangePolicy !== 'Replace')
    return notMet(
      `${text}, and its ami, kubelet, disk, metadataOptions, securityGroups, instanceTags and userData cannot change. To change them, set nodeGroup.immutableChangePolicy: Replace, or create another pool`,
    );
  const remedy = 'a second node group replaces it (nodeGroup.immutableChangePolicy: Replace)';
  if (canaryNodes !== undefined)
    return notMet(
      `${text}, but no canary can be created from a deleted template. To update the node group, change its ami, kubelet, disk, metadataOptions, securityGroups, instanceTags or userData: ${remedy}. Or remove nodeGroup.update.canary`,
    );
  return warning(
    `${text}. When its ami, kubelet, disk, metadataOptions, securityGroups, instanceTags or userData change, ${remedy}`,
  );
}

/** Ensures that EC2 returns what the operator wrote: otherwise each comparison would fail, and each would add a version. */
function ownTemplateIsAsWritten({ ownTemplate: seen }: CheckInput): Answer | undefined {
  if (!seen?.unlike) return undefined;
  const { version, others } = seen.unlike;
  const what = others.length > 0 ? ` It also sets ${joined(others)}.` : '';
  return notMet(
    `Version ${version} of launch template ${seen.name} does not have the settings that the operator wrote.${what} Delete that version`,
    `To see who created it: aws ec2 describe-launch-template-versions --launch-template-name ${seen.name}`,
  );
}

/** Ensures that the nodes can get their user data: without it, they do not join. */
function userDataFits({ userDataProblem }: CheckInput): Answer | undefined {
  return userDataProblem === undefined ? undefined : notMet(userDataProblem.replace(/\.$/, ''));
}
