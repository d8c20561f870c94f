/** Checks on the launch template that the operator creates, and on what it names. */

import type { ScriptSource } from '../../../ports/prerequisites.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { joined } from '../../../util/words.ts';
import { describeTerm } from '../desired/subnets.ts';
import { hasTags, securityGroupTerms } from '../launchTemplate/machine.ts';
import { readScript, userDataIn } from '../launchTemplate/userScript.ts';
import type { CheckInput, PrerequisiteCheck, PrerequisiteResult } from '../model/prerequisiteFacts.ts';
import { failed, given, met, warning } from './check.ts';

/** Ensures that a template with the name of the pool's is the pool's: another one is never changed or deleted. */
function isOwned({ machineTemplate: seen }: CheckInput): PrerequisiteResult | undefined {
  if (!seen?.found || seen.isOwn) return seen && met;
  const { name, id } = seen.found;
  const tags = Object.entries(seen.ownerTags).map(([key, value]) => `${key}=${value}`);
  const remedy = `aws ec2 delete-launch-template --launch-template-id ${id}`;
  return failed(
    `Launch template ${name} (${id}) exists but does not have the tags ${joined(tags)}, so the operator does not change it. If the pool may use it, set the tags. Otherwise, delete it (${remedy})`,
  );
}

/** Ensures that the template of an existing group was not deleted: EKS cannot give the group another one. */
export function ownTemplateExists(input: CheckInput): PrerequisiteResult | undefined {
  const { machineTemplate: seen, spec, canaryNodes } = input;
  if (seen?.ofGroup?.name !== seen?.name || !seen?.ofGroup || seen.ofGroup.id === seen.found?.id) return undefined;
  const { id, version } = seen.ofGroup;
  const text = `Launch template ${seen.name} (${id}), from which the node group was created, was deleted. The node group keeps the settings of version ${version}`;
  if (nodeGroupIn(spec).immutableChangePolicy !== 'Replace')
    return failed(
      `${text}, and its ami, kubelet, disk, metadataOptions, securityGroups, instanceTags and userData cannot change. To change them, set nodeGroup.immutableChangePolicy: Replace, or create another pool`,
    );
  const remedy = 'a second node group replaces it (nodeGroup.immutableChangePolicy: Replace)';
  if (canaryNodes !== undefined)
    return failed(
      `${text}, but no canary can be created from a deleted template. To update the node group, change its ami, kubelet, disk, metadataOptions, securityGroups, instanceTags or userData: ${remedy}. Or remove nodeGroup.update.canary`,
    );
  return warning(
    `${text}. When its ami, kubelet, disk, metadataOptions, securityGroups, instanceTags or userData change, ${remedy}`,
  );
}

/** Ensures that EC2 returns what the operator wrote: otherwise each comparison would fail, and each would add a version. */
export function ownTemplateIsAsWritten({ machineTemplate: seen }: CheckInput): PrerequisiteResult | undefined {
  if (!seen?.unlike) return undefined;
  const { version, others } = seen.unlike;
  const what = others.length > 0 ? ` It also sets ${joined(others)}.` : '';
  return failed(
    `Version ${version} of launch template ${seen.name} does not have the settings that the operator wrote.${what} Check who created it (aws ec2 describe-launch-template-versions --launch-template-name ${seen.name}), and delete that version`,
  );
}

/** Ensures that the nodes can get their user data: without it, they do not join. */
export function userDataFits({ userDataProblem }: CheckInput): PrerequisiteResult | undefined {
  return userDataProblem === undefined ? undefined : failed(userDataProblem.replace(/\.$/, ''));
}

/** Ensures that the security groups exist: EKS reports a missing one only after 20 minutes. */
function securityGroupsExist({ spec, facts, cluster }: CheckInput): PrerequisiteResult | undefined {
  return given(facts, 'securityGroups', (found) => {
    const missing = securityGroupTerms(spec).filter(
      ({ id, tags = {} }) => !found.some((group) => (id === undefined ? hasTags(group.tags, tags) : group.id === id)),
    );
    if (missing.length === 0) return met;
    return failed(
      `No security group of VPC ${cluster.vpcId} matches ${joined(missing.map(describeTerm))}. Correct nodeGroup.securityGroups`,
    );
  });
}

/** Ensures that the script for nodes exists. */
function scriptExists({ spec, facts }: CheckInput): PrerequisiteResult | undefined {
  return given(facts, 'userData', (source) => (source.text === undefined ? resultOf(spec, source) : met));
}

/** Ensures that nodes can run the script: EC2 accepts any text as user data, so a node would run a part of it, or nothing, and not join. */
function scriptIsUsable({ spec, facts: { userData: source } }: CheckInput): PrerequisiteResult | undefined {
  // Otherwise, it is reported by the check before.
  if (!source?.ok || source.value.text === undefined) return undefined;
  return resultOf(spec, source.value);
}

function resultOf(spec: CheckInput['spec'], source: ScriptSource): PrerequisiteResult {
  const userData = userDataIn(spec);
  const found = userData && readScript(userData, source);
  return found && 'problem' in found ? failed(found.problem) : met;
}

/** Checks on the operator's launch template, by importance. */
export const machineChecks: readonly PrerequisiteCheck[] = [
  {
    reason: 'LaunchTemplateNotOwned',
    about: "the owner of the pool's launch template",
    section: 'launch-template-owner',
    look: isOwned,
  },
  {
    reason: 'SecurityGroupNotFound',
    about: 'the security groups',
    section: 'security-groups',
    look: securityGroupsExist,
  },
  { reason: 'UserDataNotFound', about: 'the script of nodeGroup.userData', section: 'user-data', look: scriptExists },
  { reason: 'UserDataInvalid', about: 'the content of that script', section: 'user-data-script', look: scriptIsUsable },
];
