import assert from 'node:assert/strict';
import type { SmokeTestState } from '../model/nodePodNeeds.ts';
import type { NodePod } from '../ports/nodePods.ts';
import { MINUTE, NOW } from '../testing/fixtures.ts';
import {
  CREATING,
  curl,
  NANO,
  NO_DNS,
  PASSED,
  PULL_ERROR,
  requesting,
  TEST,
  TIMED_OUT,
  testName,
  testPod,
} from '../testing/nodePodScenes.ts';
import { testContainer, testStateOf } from './smokeTest.ts';

const LIMIT = 10 * MINUTE;
const RETRY = NOW + 10_000;

/** The state after attempts with these pods, the first one first. */
function stateOf(...changes: readonly Partial<NodePod>[]): SmokeTestState {
  const attempts = changes.map((change, i) => ({ number: i + 1, pod: testPod({ changedAt: NOW, ...change }, i + 1) }));
  return testStateOf(attempts.reverse(), LIMIT, NOW);
}

describe('the smoke test of a node', () => {
  const failed = (check: string, message: string, retryAt: number | undefined, attempts = 1) =>
    ({ kind: 'failed', check, message, attempts, retryAt }) as SmokeTestState;
  const running = { kind: 'running' } as const;
  const noLog = { ...curl(7), reason: 'Error' } as const;
  const startError = {
    kind: 'ended',
    exitCode: 128,
    reason: 'StartError',
    message: 'The system cannot find the file specified.',
  } as const;
  const crash = { kind: 'ended', exitCode: -1073741515, reason: 'Error', message: '' } as const;
  const lost = {
    kind: 'ended',
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located',
  } as const;
  const creating = {
    kind: 'waiting',
    reason: 'CreateContainerError',
    message: 'hcs: the operating system does not match',
  } as const;
  const late = { createdAt: NOW - LIMIT };
  const pod = testName();
  const table: readonly (readonly [string, SmokeTestState, SmokeTestState])[] = [
    ['waits for its pod', stateOf(), { kind: 'waiting' }],
    ['runs when its pod was created', stateOf({}), { kind: 'running' }],
    ['runs while its container is created', stateOf(CREATING), { kind: 'running' }],
    ['runs while its container runs', stateOf(requesting('Running', running)), running],
    ['is passed when its pod succeeded', stateOf(PASSED), { kind: 'passed' }],
    [
      'fails at DNS if curl cannot resolve the host of the Service',
      stateOf(NO_DNS),
      failed('DNS', 'curl: (6) Could not resolve host: a', RETRY),
    ],
    [
      'fails at DNS before its pod has ended',
      stateOf(requesting('Running', curl(6, 'no host'))),
      failed('DNS', 'no host', undefined),
    ],
    [
      'fails at DNS if no DNS server answers',
      stateOf(requesting('Failed', curl(28, 'curl: (28) Resolving timed out'))),
      failed('DNS', 'curl: (28) Resolving timed out', RETRY),
    ],
    [
      'fails at the Service if curl cannot connect',
      stateOf(requesting('Failed', curl(7, 'curl: (7) Failed to connect'))),
      failed('Service', 'curl: (7) Failed to connect', RETRY),
    ],
    [
      'fails at the Service if curl times out',
      stateOf(requesting('Failed', curl(28, 'curl: (28) timed out'))),
      failed('Service', 'curl: (28) timed out', RETRY),
    ],
    [
      'fails with the exit code if the kubelet has no log',
      stateOf(requesting('Failed', noLog)),
      failed('Service', 'curl.exe ended with exit code 7 (Error)', RETRY),
    ],
    [
      'fails at the start without curl.exe',
      stateOf(requesting('Failed', startError)),
      failed('Start', 'The system cannot find the file specified.', RETRY),
    ],
    [
      'fails at the start if curl.exe crashes',
      stateOf(requesting('Failed', crash)),
      failed('Start', 'curl.exe ended with exit code -1073741515 (Error)', RETRY),
    ],
    [
      'fails at the start if the kubelet lost its container',
      stateOf(requesting('Failed', lost)),
      failed('Start', 'The container could not be located', RETRY),
    ],
    [
      'fails at the start with an image of another build',
      stateOf(requesting('Pending', creating)),
      failed('Start', 'hcs: the operating system does not match', undefined),
    ],
    [
      'fails at the start if the image cannot be pulled',
      stateOf(PULL_ERROR),
      failed('Start', 'the image cannot be pulled: not found', undefined),
    ],
    [
      'fails at the start if its pod is not scheduled in time',
      stateOf({ ...late, unscheduled: '0/3 nodes are available' }),
      failed('Start', `pod ${pod} was not scheduled within 10 minutes: 0/3 nodes are available`, undefined),
    ],
    [
      'fails at the start if its pod was evicted',
      stateOf({ phase: 'Failed', reason: 'Evicted', isScheduled: true }),
      failed('Start', `pod ${pod} failed: Evicted`, RETRY),
    ],
    [
      'fails at the start if its kubelet rejected the pod',
      stateOf({ phase: 'Failed', reason: 'OutOfpods', message: 'Node has no room', isScheduled: true }),
      failed('Start', `pod ${pod} failed: OutOfpods: Node has no room`, RETRY),
    ],
    [
      'runs while curl runs, also if its pod waited for almost all of its time',
      stateOf({ ...requesting('Running', running), ...late }),
      running,
    ],
    [
      'fails at the start if its pod has an IP address and did not start in time',
      stateOf(TIMED_OUT),
      failed('Start', `pod ${pod} did not start within 10 minutes`, RETRY),
    ],
    [
      'fails at the pod IP if its pod got none in time',
      stateOf({ ...TIMED_OUT, hasAddress: false }),
      failed('PodIP', `pod ${pod} did not start within 10 minutes, and has no IP address`, RETRY),
    ],
    [
      'has failed until a second attempt ends',
      stateOf(NO_DNS, CREATING),
      failed('DNS', 'curl: (6) Could not resolve host: a', undefined),
    ],
    [
      'has failed twice',
      stateOf(NO_DNS, NO_DNS),
      failed('DNS', 'curl: (6) Could not resolve host: a', NOW + 20_000, 2),
    ],
    ['is passed at the second attempt', stateOf(NO_DNS, PASSED), { kind: 'passed' }],
  ];
  for (const [name, found, want] of table) it(name, () => assert.deepEqual(found, want));

  it('requests the Service, whatever its certificate and its answer', () => {
    const flags = [
      'curl.exe',
      '--silent',
      '--show-error',
      '--insecure',
      '--globoff',
      '--noproxy',
      '*',
      '--head',
      '--output',
      'NUL',
      '--connect-timeout',
      '10',
      '--max-time',
      '30',
    ];
    assert.deepEqual(testContainer(TEST), { name: 'service', image: NANO, command: [...flags, TEST.serviceURL] });
  });
});
