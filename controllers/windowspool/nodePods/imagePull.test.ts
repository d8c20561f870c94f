import assert from 'node:assert/strict';
import type { ImageState } from '../model/nodePodNeeds.ts';
import type { NodePod } from '../ports/nodePods.ts';
import { MINUTE, NOW } from '../testing/fixtures.ts';
import {
  CORE,
  CREATING,
  NOT_STARTED,
  PULL_ERROR,
  PULLED,
  pullName,
  pullPod,
  TIMED_OUT,
  withContainer,
} from '../testing/nodePodScenes.ts';
import { type Attempt, attemptsIn, retryAt } from './attempts.ts';
import { pullStateOf, startErrorIn } from './imagePull.ts';

const LIMIT = 30 * MINUTE;
const created = NOW - MINUTE;

/** The attempts of these pods, the first one first. */
function attempts(...changes: readonly Partial<NodePod>[]): Attempt[] {
  return changes.map((change, i) => ({ number: i + 1, pod: pullPod(CORE, change, i + 1) })).reverse();
}

describe('the state of an image', () => {
  const failed = (message: string, at: number | undefined): ImageState => ({ kind: 'failed', message, retryAt: at });
  const ended = (reason: string, exitCode = 1) => withContainer({ kind: 'ended', exitCode, reason, message: '' });
  const starting = (reason: string) => withContainer({ kind: 'waiting', reason, message: 'why' });
  const over = { phase: 'Failed', isScheduled: true, changedAt: NOW };
  const late = NOW - LIMIT;
  const pod = pullName(CORE);
  const table: readonly (readonly [string, readonly Partial<NodePod>[], ImageState])[] = [
    ['without a pod', [], { kind: 'waiting' }],
    ['whose pod is not scheduled yet', [{}], { kind: 'pulling' }],
    ['whose pod has no status yet', [{ isScheduled: true }], { kind: 'pulling' }],
    ['whose container is being created', [CREATING], { kind: 'pulling' }],
    ['whose container waits without a reason', [starting('')], { kind: 'pulling' }],
    ['whose container runs', [withContainer({ kind: 'running' })], { kind: 'pulled' }],
    ['whose container exited', [PULLED], { kind: 'pulled' }],
    ['whose container exited with an error', [ended('Error')], { kind: 'pulled' }],
    ['without cmd.exe', [NOT_STARTED], { kind: 'pulled' }],
    ['whose container cannot be created', [starting('CreateContainerError')], { kind: 'pulled' }],
    ['whose container cannot be configured', [starting('CreateContainerConfigError')], { kind: 'pulled' }],
    ['whose container cannot be run', [starting('RunContainerError')], { kind: 'pulled' }],
    [
      'whose container the kubelet lost',
      [{ ...ended('ContainerStatusUnknown', 137), changedAt: NOW }],
      failed(`pod ${pod} failed: no container started`, NOW + 10_000),
    ],
    ['that the kubelet cannot pull', [PULL_ERROR], failed('not found', undefined)],
    [
      'that the kubelet cannot pull for a reason that it does not say',
      [withContainer({ kind: 'waiting', reason: 'ErrImagePull', message: '' })],
      failed('ErrImagePull', undefined),
    ],
    ['with an invalid name', [starting('InvalidImageName')], failed('why', undefined)],
    [
      'whose pod was not scheduled in time',
      [{ createdAt: late, unscheduled: '0/3 nodes are available' }],
      failed(`pod ${pod} was not scheduled within 30 minutes: 0/3 nodes are available`, undefined),
    ],
    [
      'whose pod was not scheduled in time, without a cause',
      [{ createdAt: late }],
      failed(`pod ${pod} was not scheduled within 30 minutes`, undefined),
    ],
    [
      'whose pod did not start in time',
      [{ ...CREATING, createdAt: late }],
      failed(`pod ${pod} did not start within 30 minutes`, undefined),
    ],
    [
      'whose pod the kubelet ended at its deadline',
      [{ ...TIMED_OUT, changedAt: NOW }],
      failed(`pod ${pod} did not start within 30 minutes`, NOW + 10_000),
    ],
    [
      'whose pod the kubelet ended at its deadline, when it could not pull',
      [{ ...PULL_ERROR, ...over, reason: 'DeadlineExceeded' }],
      failed('not found', NOW + 10_000),
    ],
    [
      'whose pod was evicted',
      [{ ...over, reason: 'Evicted', message: 'The node was low on resource: ephemeral-storage.' }],
      failed(`pod ${pod} failed: Evicted: The node was low on resource: ephemeral-storage.`, NOW + 10_000),
    ],
    [
      'that a second attempt pulls, after a failure',
      [{ ...PULL_ERROR, ...over }, CREATING],
      failed('not found', undefined),
    ],
    ['that a second attempt pulled', [{ ...PULL_ERROR, ...over }, PULLED], { kind: 'pulled' }],
    ['that the first attempt pulled', [PULLED, CREATING], { kind: 'pulled' }],
    [
      'that two attempts could not pull',
      [
        { ...TIMED_OUT, changedAt: created },
        { ...PULL_ERROR, ...over },
      ],
      failed('not found', NOW + 20_000),
    ],
  ];
  for (const [name, changes, want] of table) {
    it(`${name}: ${want.kind}`, () => assert.deepEqual(pullStateOf(attempts(...changes), LIMIT, NOW), want));
  }
});

describe('the error of a container', () => {
  const table: readonly (readonly [string, Partial<NodePod>, string | undefined])[] = [
    ['that exited is absent', PULLED, undefined],
    ['that is being created is absent', CREATING, undefined],
    ['whose image cannot be pulled is absent', PULL_ERROR, undefined],
    ['without cmd.exe is that of the runtime', NOT_STARTED, 'The system cannot find the file specified.'],
    [
      'that cannot be created is that of the kubelet',
      withContainer({ kind: 'waiting', reason: 'CreateContainerError', message: 'hcs: mismatch' }),
      'hcs: mismatch',
    ],
    [
      'without a message is the reason',
      withContainer({ kind: 'ended', exitCode: 128, reason: 'StartError', message: '' }),
      'StartError',
    ],
  ];
  for (const [name, change, want] of table) it(name, () => assert.equal(startErrorIn(pullPod(CORE, change)), want));
});

describe('the attempts of a pull', () => {
  const named = (name: string, deleting = false) => pullPod(CORE, { name, deleting });

  it('are those with its key, the latest first, without pods that are being deleted', () => {
    const names = [
      'image-pull-a-2',
      'image-pull-a-10',
      'image-pull-a-1',
      'image-pull-b-3',
      'image-pull-a-0',
      'image-pull-a-x',
      'other-a-1',
    ];
    const pods = [...names.map((name) => named(name)), named('image-pull-a-11', true)];
    assert.deepEqual(
      attemptsIn(pods, 'image-pull', 'a').map(({ number }) => number),
      [10, 2, 1],
    );
  });

  it('do not wait for a node whose clock is ahead for longer than the timeout', () => {
    const pod = pullPod(CORE, { createdAt: NOW, changedAt: NOW + 600 * MINUTE });
    assert.equal(retryAt({ number: 1, pod }, LIMIT) - NOW, LIMIT + 10_000);
  });

  it('follow each other after 10 seconds, then after twice the time, and at last after 10 minutes', () => {
    const waits = [1, 2, 3, 7, 8, 1_000_000].map(
      (number) => retryAt({ number, pod: pullPod(CORE, { changedAt: NOW }) }, LIMIT) - NOW,
    );
    assert.deepEqual(waits, [10_000, 20_000, 40_000, 600_000, 600_000, 600_000]);
  });
});
