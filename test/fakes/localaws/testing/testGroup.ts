import assert from 'node:assert/strict';
import type { MemoryCloud } from '../memory.ts';
import type { Switches } from '../switches.ts';
import { sampleCluster, sampleGroup } from './fixtures.ts';
import { memoryCloud, type TestClock } from './testClock.ts';

/** The path members of the sample group. */
export const group = { clusterName: sampleCluster.name, nodegroupName: 'web' };
/** Health issues of a failure. */
export const issues = [{ code: 'NodeCreationFailure' as const, message: 'it failed', resourceIds: ['i-1'] }];
/** Errors of a failed update. */
export const errors = [{ errorCode: 'NodeCreationFailure' as const, errorMessage: 'it failed', resourceIds: ['i-1'] }];

/** The status of the sample group. */
export const statusOf = async (cloud: MemoryCloud): Promise<string | undefined> =>
  (await cloud.send('DescribeNodegroup', group)).nodegroup?.status;

/** `accepted`, or the error of a call as text. */
export const rejection = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'accepted', String);

/** Fails unless a call is rejected with an error that matches: by default an InvalidParameterException with these words. */
export async function assertRejected(promise: Promise<unknown>, error: RegExp): Promise<void> {
  const { source } = error;
  const whole = source.startsWith('^') ? error : new RegExp(`^InvalidParameterException: .*${source}`);
  assert.match(await rejection(promise), whole);
}

/** Creates the sample group and waits until it is ACTIVE. */
export async function active(cloud: MemoryCloud, clock: TestClock): Promise<void> {
  await cloud.send('CreateNodegroup', sampleGroup());
  clock.advance(3);
  assert.equal(await statusOf(cloud), 'ACTIVE');
}

/** A cloud whose sample group has that status. Without a policy the caller has the operator's permissions. */
export async function inState(
  status: string,
  switches: Partial<Switches>,
  policy?: string,
): Promise<{ cloud: MemoryCloud; clock: TestClock }> {
  const { cloud, clock } = memoryCloud({ switches, ...(policy !== undefined && { policy }) });
  if (status === 'CREATE_FAILED') cloud.faults.createFailure({ issues });
  await cloud.send('CreateNodegroup', sampleGroup());
  if (status !== 'CREATING') clock.advance(3);
  if (status === 'UPDATING') await cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 6 } });
  if (status === 'DEGRADED') {
    await statusOf(cloud);
    cloud.faults.healthIssue({ group: 'web', issues });
  }
  if (status === 'DELETING') await cloud.send('DeleteNodegroup', group);
  assert.equal(await statusOf(cloud), status);
  return { cloud, clock };
}
