/** Which unmet prerequisite is the likely cause of an error of a pool whose group exists. */

import type { NodeCheck, PrerequisiteReason } from '../../../api/reasons.ts';
import { joined } from '../../../util/words.ts';
import type { EksDerived } from '../model/groupDue.ts';

/** The symptom of an unmet prerequisite: a check that nodes fail, nodes that do not join, or a group that EKS cannot keep healthy. */
export type Symptom = NodeCheck | 'NodesMissing' | 'GroupBroken';

const CAUSES: Readonly<Partial<Record<Symptom, readonly PrerequisiteReason[]>>> = {
  NoPodAddresses: [
    'AutoModeUnsupported',
    'WindowsIPAMDisabled',
    'LegacyResourceController',
    'ClusterRolePolicyMissing',
    'UnsupportedIPFamily',
    'TooFewAddresses',
  ],
  NotReady: ['NodeAccessInvalid', 'NodeRoleShared', 'NoLinuxNode'],
  NodesMissing: ['NodeAccessInvalid', 'NodeRoleShared', 'TooFewAddresses', 'SubnetNotFound', 'InstanceTypeNotOffered'],
  GroupBroken: [
    'NodeAccessInvalid',
    'NodeRoleShared',
    'InstanceTypeUnsupported',
    'InstanceTypeNotOffered',
    'SubnetNotFound',
    'TooFewAddresses',
    'UnsupportedVersion',
    'UnsupportedRegion',
  ],
};

/** ` Likely cause: WindowsIPAMDisabled. See status.prerequisites.`; empty when no known cause explains the symptoms. */
export function likelyCause(s: EksDerived, symptoms: readonly Symptom[]): string {
  const explained = new Set(symptoms.flatMap((symptom) => CAUSES[symptom] ?? []));
  const checked = s.due.prerequisites.examination;
  const unmet = checked
    ? [...checked.failed, ...checked.ignored.filter(({ result }) => result.kind !== 'unknown'), ...checked.warned]
    : [];
  const found = unmet.map(({ check }) => check.reason).filter((reason) => explained.has(reason));
  return found.length === 0 ? '' : ` Likely cause: ${joined(found)}. See status.prerequisites.`;
}
