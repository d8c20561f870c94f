/*
 * Access entries: the IAM principals that the API server authenticates, and their types. A node joins with the type of the entry of its
 * role. Limits and default names: the API reference of CreateAccessEntry and the user guide. Messages marked "seen" are EKS' own.
 */
import type { AccessEntry, CreateAccessEntryRequest } from '@aws-sdk/client-eks';
import { type AwsFault, inUse, invalidParameter, invalidRequest, notFound } from '../awsFault.ts';
import { roleArns } from '../network.ts';
import type { LocalAwsState } from '../state.ts';
import { newEntry } from './accessEntryRecord.ts';
import { accessChanged } from './groupStatus.ts';
import { once } from './idempotency.ts';
import { tagsFault } from './validation.ts';

const types = ['STANDARD', 'EC2_LINUX', 'EC2_WINDOWS', 'FARGATE_LINUX', 'EC2', 'HYBRID_LINUX', 'HYPERPOD_LINUX'];

/** CreateAccessEntry: one for each principal; the type cannot be changed later. */
export function createAccessEntry(
  cloud: LocalAwsState,
  request: CreateAccessEntryRequest,
): { readonly accessEntry: AccessEntry } {
  checkMode(cloud);
  const principalArn = request.principalArn ?? '';
  return once(cloud, request, { operation: 'CreateAccessEntry', group: principalArn }, () => {
    const fault = createFault(request);
    if (fault !== undefined) throw fault;
    // Seen.
    if (cloud.accessEntries.has(principalArn)) {
      throw inUse('The specified access entry resource is already in use on this cluster.');
    }
    const accessEntry = newEntry(cloud, request, cloud.nextUuid());
    cloud.accessEntries.set(principalArn, accessEntry);
    accessChanged(cloud);
    return { accessEntry };
  });
}

/** DescribeAccessEntry. */
export const describeAccessEntry = (cloud: LocalAwsState, principalArn: string | undefined) => ({
  accessEntry: entryOf(cloud, principalArn),
});

/** Replaces or deletes an entry at once, as an administrator. Throws RangeError for an unknown type. */
export function setEntry(
  cloud: LocalAwsState,
  change: { readonly principalArn: string; readonly type?: string; readonly exists?: boolean },
): void {
  const { principalArn, type = 'STANDARD', exists = true } = change;
  if (!types.includes(type)) throw new RangeError(`type is ${type}; it can be ${types.join(' or ')}`);
  if (exists) cloud.accessEntries.set(principalArn, newEntry(cloud, { principalArn, type }, cloud.nextUuid()));
  else cloud.accessEntries.delete(principalArn);
  accessChanged(cloud);
}

function entryOf(cloud: LocalAwsState, principalArn: string | undefined): AccessEntry {
  checkMode(cloud);
  const entry = cloud.accessEntries.get(principalArn ?? '');
  if (entry !== undefined) return entry;
  // Seen, at AssociateAccessPolicy.
  throw notFound(
    "The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'.",
  );
}

function checkMode(cloud: LocalAwsState): void {
  if (cloud.clusterState.authenticationMode !== 'CONFIG_MAP') return;
  // Seen.
  throw invalidRequest(
    "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation.",
  );
}

function createFault(request: CreateAccessEntryRequest): AwsFault | undefined {
  const { principalArn = '', type = 'STANDARD', kubernetesGroups = [], username, tags } = request;
  const isUser = /^arn:[\w-]+:iam::\d{12}:user\/.+/.test(principalArn);
  // Seen. EKS looks the principal up, so a role that does not exist gets the same message as an invalid one.
  if (!isUser && !roleArns.includes(principalArn)) {
    return invalidParameter('The specified principalArn is invalid: invalid principal.');
  }
  if (!types.includes(type)) return invalidParameter(`type is ${type}; it must be one of these [${types.join(', ')}]`);
  if (type !== 'STANDARD') {
    if (isUser) return invalidParameter(`An access entry of type ${type} needs an IAM role as principal`);
    if (kubernetesGroups.length > 0 || username !== undefined) {
      return invalidParameter(`kubernetesGroups and username can't be given for an access entry of type ${type}`);
    }
  }
  const reserved = ['system:', 'eks:', 'aws:', 'amazon:', 'iam:'].find((prefix) => username?.startsWith(prefix));
  if (reserved !== undefined) return invalidParameter(`username can't start with ${reserved}`);
  return tagsFault(tags);
}
