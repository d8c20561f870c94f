/** A new node on which the operator runs pods. */
import type { ImagePrePullSpec, SmokeTestSpec } from '../api/api.gen.ts';
import { podName } from '../nodePods/attempts.ts';
import { pullKey, testKey } from '../nodePods/preparation.ts';
import type { ContainerState, NodePod } from '../ports/nodePods.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { MINUTE, NOW, type SpecChange, sampleNode, sampleNodePod } from './fixtures.ts';

export const CORE = 'mcr.microsoft.com/windows/servercore:ltsc2022';
export const WEB = 'example.com/web:1';

/** The pull with its default timeout. */
export const PRE_PULL: ImagePrePullSpec = { timeout: '30m' };

/** The spec of a pool that pulls two images on new nodes. */
export const pulling: SpecChange = {
  verification: { policy: 'Report', requiredImages: [CORE, WEB], imagePrePull: PRE_PULL },
};

/** A node that joined a minute ago, and that the operator has not reported on. */
export const newcomer = newNode();

/** The same with a change. */
export function newNode(change: Partial<NodeRecord> = {}): NodeRecord {
  return sampleNode({ name: 'ip-new', createdAt: NOW - MINUTE, verified: undefined, verifiedSince: 0, ...change });
}

/** The name of the pod that pulls an image on the node. */
export function pullName(image: string, attempt = 1, node = newcomer, prePull = PRE_PULL): string {
  return podName('image-pull', pullKey(node, image, prePull), attempt);
}

/** The pod that pulls an image on the node, before it is scheduled. */
export function pullPod(image: string, change: Partial<NodePod> = {}, attempt = 1, node = newcomer): NodePod {
  const name = pullName(image, attempt, node);
  return sampleNodePod({ name, node: node.name, nodeUid: node.uid, image, createdAt: NOW - MINUTE, ...change });
}

/** The fields of a pod whose container is in this state. */
export function withContainer(state: ContainerState, hasImage = false): Partial<NodePod> {
  const phase =
    state.kind === 'waiting'
      ? 'Pending'
      : state.kind === 'running'
        ? 'Running'
        : state.exitCode === 0
          ? 'Succeeded'
          : 'Failed';
  return { phase, isScheduled: true, hasAddress: true, containers: [{ name: 'pull', hasImage, state }] };
}

const waiting = (reason: string, message = ''): Partial<NodePod> => withContainer({ kind: 'waiting', reason, message });

export const CREATING = waiting('ContainerCreating');
export const PULL_ERROR = waiting('ErrImagePull', 'not found');
export const PULLED = withContainer({ kind: 'ended', exitCode: 0, reason: 'Completed', message: '' }, true);
/** Of an image without cmd.exe. */
export const NOT_STARTED = withContainer(
  { kind: 'ended', exitCode: 128, reason: 'StartError', message: 'The system cannot find the file specified.' },
  true,
);
/** The kubelet gave up. */
export const TIMED_OUT: Partial<NodePod> = {
  ...CREATING,
  phase: 'Failed',
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
};

export const NANO = 'mcr.microsoft.com/windows/nanoserver:ltsc2022';

/** A test with its defaults. */
export const TEST: SmokeTestSpec = {
  image: NANO,
  serviceURL: 'https://kubernetes.default.svc.cluster.local/version',
  timeout: '10m',
};

/** The spec of a pool that tests new nodes. */
export const testing: SpecChange = { verification: { policy: 'Report', smokeTest: TEST } };

/** The name of the pod that tests the node. */
export function testName(attempt = 1, node = newcomer, test = TEST): string {
  return podName('smoke-test', testKey(node, test), attempt);
}

/** The pod that tests the node, before it is scheduled. */
export function testPod(change: Partial<NodePod> = {}, attempt = 1, node = newcomer): NodePod {
  return pullPod(NANO, { name: testName(attempt, node), purpose: 'smoke-test', ...change }, attempt, node);
}

/** The fields of a test pod whose container is in this state. */
export function requesting(phase: string, state: ContainerState): Partial<NodePod> {
  return { phase, isScheduled: true, hasAddress: true, containers: [{ name: 'service', hasImage: true, state }] };
}

/** The state of a container whose curl ended with this exit code. */
export function curl(exitCode: number, message = ''): ContainerState {
  return { kind: 'ended', exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', message };
}

export const PASSED = requesting('Succeeded', curl(0));
export const NO_DNS = requesting('Failed', curl(6, 'curl: (6) Could not resolve host: a'));
