/** The access of a role of Windows nodes to the cluster: an access entry of EKS, or groups in ConfigMap aws-auth. Pure. */
import { shellWord } from '../util/words.ts';
import { required } from './check.ts';

/** The name of the check in messages, status and metrics. */
export const NODE_ACCESS = required('NodeAccessInvalid', 'node-access', 'the access of the node role');

/** The type of the access entry. */
export const WINDOWS_ENTRY = 'EC2_WINDOWS';

/** The groups that aws-auth must give the role: https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html */
export const NODE_GROUPS = ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'] as const;

/** The shared question about a role's access entry; changes of the entry invalidate its answer. */
export function accessEntryQuestion(role: string): string {
  return `access entry ${role}`;
}

/** `The access entry of node role windows has type EC2_LINUX, with which Windows nodes run no pods`. Without a full stop. */
export function wrongEntry(role: string, type: string): string {
  const effect = type === 'EC2_LINUX' ? 'run no pods' : 'cannot join';
  return `The access entry of node role ${role} has type ${type}, with which Windows nodes ${effect}`;
}

/** The command that creates the access entry. @param role its ARN */
export function entryCreation(role: string, cluster: string): string {
  return `aws eks create-access-entry --cluster-name ${cluster} --principal-arn ${shellWord(role)} --type ${WINDOWS_ENTRY}`;
}

/** The command that deletes it. @param role its ARN */
export function entryDeletion(role: string, cluster: string): string {
  return `aws eks delete-access-entry --cluster-name ${cluster} --principal-arn ${shellWord(role)}`;
}
