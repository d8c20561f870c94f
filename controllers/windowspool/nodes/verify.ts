/** Verifies one node with a list of checks, each a pure function. A node is verified when no enforced check fails. */
import type { WindowsPoolSpec } from '../api/api.gen.ts';
import { GATE_TAINT_MISSING_CONDITION, UNINITIALIZED_TAINT_KEY } from '../api/labels.ts';
import type { NodeCheck } from '../api/reasons.ts';
import { explain, specificErrorIn, withCauseOf } from '../knownErrors/explain.ts';
import type { Preparation } from '../model/nodePodNeeds.ts';
import type { CheckFailure, Expectation, VerificationResult } from '../model/poolNodesView.ts';
import { isOnNode, isUnread, preparationMs, preparationOf } from '../nodePods/preparation.ts';
import { type NodeRecord, ownStatus, type Taint } from '../ports/nodes.ts';
import type { ControllerWarning } from '../ports/prerequisites.ts';
import { describeTaint } from '../runtimeClass/runtimeClass.ts';
import { parseQuantity } from '../util/quantity.ts';
import { count, cut, joined } from '../util/words.ts';
import { littleReservedMemory, maxPodsMismatch, reservationMismatch } from './kubeletSettings.ts';
import { gateTaintOf, hasGateTaintOf } from './nodeTaints.ts';
import { buildLabelFor, foreignTaints, ownershipOf } from './ownershipRecord.ts';
import {
  buildOf,
  kubernetesMinor,
  kubernetesSupport,
  POD_ADDRESSES,
  parseKernelVersion,
  releaseOf,
  WINDOWS_BUILD_LABEL,
  yearOf,
} from './windowsVersions.ts';

interface Check {
  readonly reason: NodeCheck;
  /** A new node needs some time to pass: it is `joining` in the meantime. */
  readonly takesTime?: 'joinGrace' | 'settling';
  /** Never fails a node. */
  readonly warns?: true;
  /** What it found, or undefined. */
  readonly test: (
    node: NodeRecord,
    expected: Expectation,
    seen: Seen,
  ) => string | Omit<CheckFailure, 'reason'> | undefined;
}

/** What checks know besides the node. */
interface Seen {
  /** Whether an earlier check fails the node. */
  readonly isIncomplete: boolean;
  /** What the operator's pods on the node have shown. */
  readonly preparation: Preparation;
  /** What the VPC resource controller reports of it. */
  readonly warnings: readonly ControllerWarning[];
}

/**
 * How long after its registration a node may lack the taints of its group, in milliseconds. In some cases EKS sets labels and taints up to 30 seconds
 * after the node is Ready: https://github.com/aws/containers-roadmap/issues/1962. The rest is for the node to become Ready.
 */
export const SETTLING_MS = 120_000;

/** In order of importance: the pool's status shows the first failure. */
const checks: readonly Check[] = [
  { reason: 'NodeUnreadable', test: ({ unreadable }) => (unreadable ? `cannot be read: ${unreadable}` : undefined) },
  {
    reason: 'WrongArchitecture',
    test: (node) => wrongLabel(node, 'kubernetes.io/arch', 'amd64'),
  },
  {
    reason: 'UnknownKernelVersion',
    test: (node) =>
      parseKernelVersion(node.kernelVersion)
        ? undefined
        : `reports the kernel version ${JSON.stringify(node.kernelVersion)}, expected a Windows build (10.0.BUILD.REVISION)`,
  },
  { reason: 'WrongBuild', test: wrongBuild },
  { reason: 'RevisionTooLow', test: revisionTooLow },
  { reason: 'BuildLabelMismatch', test: buildLabelMismatch },
  { reason: 'RegistrationTaintMissing', takesTime: 'settling', test: registrationTaintMissing },
  {
    reason: 'WrongContainerRuntime',
    test: (node) =>
      node.containerRuntimeVersion.startsWith('containerd://')
        ? undefined
        : `runs ${node.containerRuntimeVersion ? JSON.stringify(node.containerRuntimeVersion) : 'an unknown container runtime'}, expected containerd`,
  },
  { reason: 'RuntimeHandlerMissing', test: runtimeHandlerMissing },
  { reason: 'KubeletVersionSkew', test: kubeletVersionSkew },
  {
    reason: 'NotReady',
    takesTime: 'joinGrace',
    test: notReady,
  },
  { reason: 'UnhealthyCondition', test: unhealthyCondition },
  { reason: 'RequiredConditionMissing', takesTime: 'joinGrace', test: requiredConditionMissing },
  { reason: 'ImagePullFailed', takesTime: 'joinGrace', test: imagePullFailed },
  { reason: 'ImagesMissing', takesTime: 'joinGrace', test: imagesMissing },
  { reason: 'SmokeTestFailed', takesTime: 'joinGrace', test: smokeTestFailed },
  { reason: 'SmokeTestPending', takesTime: 'joinGrace', test: smokeTestPending },
  { reason: 'NoPodAddresses', takesTime: 'joinGrace', test: noPodAddresses },
  { reason: 'GateTaintMissing', warns: true, test: arrivedUngated },
  { reason: 'ForeignTaint', warns: true, test: foreignTaint },
  { reason: 'UnsupportedWindowsVersion', warns: true, test: unsupportedWindowsVersion },
  { reason: 'KubeletReservationMismatch', warns: true, test: reservationMismatch },
  { reason: 'MaxPodsMismatch', warns: true, test: maxPodsMismatch },
  { reason: 'ReservedMemoryTooLow', warns: true, test: littleReservedMemory },
  { reason: 'NodePressure', warns: true, test: nodePressure },
];

/** The reasons of the checks that can fail a node: the valid values of spec.verification.warnOnly. The other checks always warn. */
export const failingChecks: readonly NodeCheck[] = checks.filter(({ warns }) => !warns).map(({ reason }) => reason);

/**
 * Verifies one node. Pure: the same node at the same time gets the same result.
 * @param preparation what it still needs; by default, without pods on it
 * @param controllerWarnings what the VPC resource controller reports of it
 */
export function verifyNode(
  node: NodeRecord,
  expected: Expectation,
  now: number,
  preparation: Preparation = preparationOf(node, expected.spec.verification, [], now),
  controllerWarnings: readonly ControllerWarning[] = [],
): VerificationResult {
  const warnOnly: readonly string[] = expected.spec.verification.warnOnly ?? [];
  const failures: CheckFailure[] = [];
  const warnings: CheckFailure[] = [];
  let grace = Number.POSITIVE_INFINITY;
  for (const check of checks) {
    const found = check.test(node, expected, {
      isIncomplete: failures.length > 0,
      preparation,
      warnings: controllerWarnings,
    });
    if (found === undefined) continue;
    const failure = { reason: check.reason, ...(typeof found === 'string' ? { message: found } : found) };
    if (check.warns || warnOnly.includes(check.reason)) warnings.push(failure);
    else {
      failures.push(failure);
      grace = Math.min(grace, graceOf(failure, expected));
    }
  }
  if (failures.length === 0) return { node, state: 'verified', failures, warnings };
  return { node, state: now - node.createdAt < grace ? 'joining' : 'failing', failures, warnings };
}

/** How long after its registration a node may fail the check, in milliseconds. */
function graceOf(failure: CheckFailure, { spec, joinGraceMs, settlingMs = 0 }: Expectation): number {
  const { reason, isInProgress } = failure;
  if (failure.isUnread) return Number.POSITIVE_INFINITY;
  if (failure.isLasting) return 0;
  const takesTime = checks.find((check) => check.reason === reason)?.takesTime;
  if (takesTime === undefined) return 0;
  if (takesTime === 'settling') return Math.min(settlingMs, joinGraceMs);
  return joinGraceMs + (isInProgress ? preparationMs(spec.verification) : 0);
}

/** When the result of a joining node changes without any event, in epoch milliseconds. */
export function graceEnd({ node, failures }: VerificationResult, expected: Expectation): number {
  return node.createdAt + Math.min(...failures.map((failure) => graceOf(failure, expected)));
}

/** The kubelet says why: that is the cause, which otherwise only kubectl describe node shows. */
function notReady({ ready, readyReason, readyMessage }: NodeRecord) {
  if (ready === 'True') return undefined;
  const state = `is not Ready (${ready}${readyReason && `, ${readyReason}`})`;
  return readyMessage === '' ? state : explained(state, readyMessage);
}

/** What was found, with the message of another component that says why. */
function explained(found: string, message: string): Omit<CheckFailure, 'reason'> {
  const error = specificErrorIn(message);
  return {
    message: cut(`${found}: ${withCauseOf(error, message)}`, CAUSE_LENGTH),
    ...(error?.isLasting && { isLasting: true }),
    ...(error && { remedy: '' }),
  };
}

/** Checks the label and not what the kubelet reports, because the RuntimeClass selects nodes by label. */
function wrongLabel({ labels }: NodeRecord, label: string, wanted: string): string | undefined {
  const found = labels[label];
  if (found === wanted) return undefined;
  return found === undefined
    ? `lacks the label ${label}=${wanted}`
    : `has the label ${label}=${found}, expected ${wanted}`;
}

/**
 * Process isolation requires the build of the host to equal that of the image:
 * https://learn.microsoft.com/virtualization/windowscontainers/deploy-containers/version-compatibility
 */
function wrongBuild(node: NodeRecord, { spec }: Expectation): string | undefined {
  const kernel = parseKernelVersion(node.kernelVersion);
  const wanted = buildOf(spec.windowsVersion);
  if (!kernel || kernel.build === wanted) return undefined;
  const release = releaseOf(kernel.build);
  const found = release ? `${release} (${kernel.build})` : `Windows build ${kernel.build}`;
  return `runs ${found}, expected Windows Server ${yearOf(spec.windowsVersion)} (${wanted})`;
}

function revisionTooLow(node: NodeRecord, { spec }: Expectation): string | undefined {
  const floor = spec.verification.minimumRevision;
  const kernel = parseKernelVersion(node.kernelVersion);
  if (floor === undefined || !kernel) return undefined;
  if (kernel.revision === undefined) return `reports no revision (${node.kernelVersion}), expected at least ${floor}`;
  return kernel.revision < floor ? `runs ${node.kernelVersion}, expected at least revision ${floor}` : undefined;
}

/** The kubelet sets the label only at registration: it is outdated after in-place patching, and old kubelets do not set it. */
function buildLabelMismatch(node: NodeRecord, { spec }: Expectation): string | undefined {
  const build = buildLabelFor(node, spec);
  const label = node.labels[WINDOWS_BUILD_LABEL];
  if (build === undefined || label === build) return undefined;
  const found =
    label === undefined ? `lacks the label ${WINDOWS_BUILD_LABEL}` : `has the label ${WINDOWS_BUILD_LABEL}=${label}`;
  return `${found}, expected ${build}: the RuntimeClass selects nodes by it`;
}

/** Whether it is the registration taint. OpenShift's value is `Windows`; both keep Linux pods away. */
export function isRegistrationTaint({ key, value, effect }: Taint): boolean {
  return key === 'os' && effect === 'NoSchedule' && value?.toLowerCase() === 'windows';
}

function registrationTaintMissing(node: NodeRecord, { spec }: Expectation) {
  if (spec.registrationTaint === 'None' || node.taints.some(isRegistrationTaint)) return undefined;
  if (awaitsGateTaint(spec, node)) {
    const message = `has no taints of the pool yet, because Cluster API has not initialized it (taint ${UNINITIALIZED_TAINT_KEY}): see its Machine`;
    return { message, remedy: '' };
  }
  const other = node.taints.find((taint) => isOtherOsTaint(taint) && !isTaintOf(spec, taint));
  return other
    ? `has the taint ${describeTaint(other)} instead of os=windows:NoSchedule: it keeps Linux pods away, and also the pods of the RuntimeClass, which do not tolerate it`
    : 'lacks the taint os=windows:NoSchedule: Linux pods may be scheduled to it';
}

/**
 * Whether Cluster API is still about to give the node the taints of its Machine: the record of the pool's first marks says whether it had the gate taint.
 * Meanwhile, it accepts no pods.
 */
export function awaitsGateTaint({ verification }: WindowsPoolSpec, { taints }: NodeRecord): boolean {
  return verification.policy === 'Gate' && taints.some(({ key }) => key === UNINITIALIZED_TAINT_KEY);
}

/**
 * Whether another taint keeps Linux pods away, such as node.kubernetes.io/os=windows:NoSchedule of Google Distributed Cloud and AKS on Azure Stack HCI
 * (Azure/aksArc#235), or os=windows:NoExecute.
 */
export function isOtherOsTaint({ key, value = '', effect }: Taint): boolean {
  return effect !== 'PreferNoSchedule' && (/(?:^|\/)(?:os|windows)$/i.test(key) || /^windows$/i.test(value));
}

function isTaintOf({ taints = [] }: Expectation['spec'], { key, value = '', effect }: Taint): boolean {
  return taints.some((own) => own.key === key && (own.value ?? '') === value && own.effect === effect);
}

/** The kubelet rejects a pod whose RuntimeClass names a handler that containerd does not have. A node that reports no handlers passes. */
function runtimeHandlerMissing({ runtimeHandlers }: NodeRecord, { spec }: Expectation): string | undefined {
  const { handler } = spec.runtimeClass;
  if (runtimeHandlers.length === 0 || runtimeHandlers.includes(handler)) return undefined;
  const named = runtimeHandlers.filter((name) => name !== '');
  return `lacks the runtime handler ${handler} of the RuntimeClass (status.runtimeHandlers: ${joined(named) || 'only the default'})`;
}

/** As in a MachineHealthCheck: https://cluster-api.sigs.k8s.io/tasks/automated-machine-management/healthchecking */
function unhealthyCondition({ conditions }: NodeRecord, { spec }: Expectation): string | undefined {
  const found = spec.verification.unhealthyConditions?.map(stateOf).find((state) => conditions.includes(state));
  return found && `has the condition ${found}, which verification.unhealthyConditions lists`;
}

function requiredConditionMissing({ conditions }: NodeRecord, { spec }: Expectation): string | undefined {
  const missing = spec.verification.requiredConditions?.find((wanted) => !conditions.includes(stateOf(wanted)));
  if (!missing) return undefined;
  const found = conditions.find((state) => state.startsWith(`${missing.type}=`));
  const what = found ? `has the condition ${found}` : `lacks the condition ${missing.type}`;
  return `${what}, expected ${stateOf(missing)} (verification.requiredConditions)`;
}

/** Of a cause in a message: the other checks must be visible, too. */
const CAUSE_LENGTH = 600;

/** Images that the operator's pods cannot pull. */
function imagePullFailed(_node: NodeRecord, _expected: Expectation, { preparation: { images } }: Seen) {
  const failed = images.flatMap(({ image, state }) =>
    state.kind === 'failed' ? [{ image, cause: state.message }] : [],
  );
  const [first] = failed;
  if (!first) return undefined;
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : '';
  return explained(`cannot pull an image of verification.requiredImages${more}: ${first.image}`, first.cause);
}

/** Images that the node does not have yet. */
function imagesMissing(_node: NodeRecord, { spec }: Expectation, { preparation }: Seen) {
  const { images } = preparation;
  if (isUnread(preparation))
    return {
      message: 'has images that the operator has not read yet (verification.requiredImages)',
      isUnread: true as const,
    };
  const missing = images.filter((image) => !isOnNode(image) && image.state.kind !== 'failed').map(({ image }) => image);
  if (missing.length === 0) return undefined;
  const message = `lacks ${missing.length} of ${count(images.length, 'image')} of verification.requiredImages: ${joined(missing)}`;
  return spec.verification.imagePrePull ? { message, isInProgress: true as const } : message;
}

/** How often the smoke test of a new node may fail before the node does: the network of a pod can take a moment. */
const TEST_ATTEMPTS = 3;

function smokeTestFailed(_node: NodeRecord, _expected: Expectation, { preparation: { test } }: Seen) {
  if (test?.kind !== 'failed') return undefined;
  const failure = explained(`failed the smoke test (verification.smokeTest) at ${test.check}`, test.message);
  return test.attempts < TEST_ATTEMPTS ? { ...failure, isInProgress: true as const } : failure;
}

function smokeTestPending(_node: NodeRecord, _expected: Expectation, { preparation: { test } }: Seen) {
  if (test?.kind !== 'waiting' && test?.kind !== 'running') return undefined;
  return { message: `has not passed the smoke test (verification.smokeTest) yet`, isInProgress: true as const };
}

function stateOf({ type, status }: { readonly type: string; readonly status: string }): string {
  return `${type}=${status}`;
}

/** https://kubernetes.io/docs/reference/node/node-status/#condition. Kubernetes itself taints nodes under pressure. */
const PRESSURE = ['MemoryPressure=True', 'DiskPressure=True', 'PIDPressure=True', 'NetworkUnavailable=True'];

function nodePressure(node: NodeRecord, expected: Expectation): string | undefined {
  const found = PRESSURE.filter((state) => node.conditions.includes(state));
  if (found.length === 0 || unhealthyCondition(node, expected) !== undefined) return undefined;
  return `has the ${found.length === 1 ? 'condition' : 'conditions'} ${joined(found)}`;
}

/** Only EKS assigns pod addresses this way, and its kubelets have `-eks-` in their version. Other clusters have other networks. */
function noPodAddresses(node: NodeRecord, { owner }: Expectation, { warnings }: Seen) {
  const addresses = node.allocatable[POD_ADDRESSES];
  const isElsewhere = owner !== undefined && addresses === undefined && !node.kubeletVersion.includes('-eks-');
  if (isElsewhere || (parseQuantity(addresses) ?? 0) > 0) return undefined;
  const [error] = explain(warnings.map(({ reason, message }) => `${reason}: ${message}`)).map((known) => known.error);
  return {
    message: `has no ${POD_ADDRESSES}: pods get no IP address`,
    ...(error?.isLasting && { isLasting: true as const }),
    ...(error && { remedy: error.remedy }),
  };
}

/**
 * A node of another provisioner has the gate taint only if its kubelet registers with it, which the ownership record shows. In a node group EKS may
 * add the taint later. There a condition of the node shows it: the operator writes it while the node is incomplete, before it removes the gate taint.
 */
function arrivedUngated(node: NodeRecord, { spec, owner, reportedBy }: Expectation, { isIncomplete }: Seen) {
  if (spec.verification.policy !== 'Gate') return undefined;
  const isFirstSeen = node.verified === undefined && isIncomplete && reportedBy !== undefined;
  const isLate =
    owner === undefined
      ? (isFirstSeen && !hasGateTaintOf(spec, node)) || ownStatus(node, GATE_TAINT_MISSING_CONDITION) === 'True'
      : ownershipOf(node)?.gated === false;
  return isLate
    ? `joined without the taint ${gateTaintOf({ spec }).key}:NoSchedule, so pods may have been scheduled to it before it was verified`
    : undefined;
}

function foreignTaint(node: NodeRecord, { spec, owner }: Expectation): string | undefined {
  const [first] = owner === undefined ? [] : foreignTaints(node, spec);
  if (!first) return undefined;
  const named = ({ key, value = '', effect }: Taint) => `${key}=${value}:${effect}`;
  return `has the taint ${named(first.found)}, set by another controller or user; the pool has ${named(first.wanted)}`;
}

/**
 * The kubelet may be at most three minor versions older than the API server, and never newer:
 * https://kubernetes.io/releases/version-skew-policy/#kubelet
 */
function kubeletVersionSkew(node: NodeRecord, { serverVersion }: Expectation): string | undefined {
  const kubelet = kubernetesMinor(node.kubeletVersion);
  const server = kubernetesMinor(serverVersion ?? '');
  if (kubelet === undefined || server === undefined) return undefined;
  if (kubelet > server)
    return `runs kubelet ${node.kubeletVersion}, which is newer than the API server (${serverVersion})`;
  return server - kubelet > 3
    ? `runs kubelet ${node.kubeletVersion}, more than three minor versions older than the API server (${serverVersion})`
    : undefined;
}

/** For a node group this is a prerequisite. Other nodes come with any combination of kubelet and Windows version. */
function unsupportedWindowsVersion(node: NodeRecord, { spec, owner }: Expectation): string | undefined {
  const minor = kubernetesMinor(node.kubeletVersion);
  const kernel = parseKernelVersion(node.kernelVersion);
  if (owner === undefined || minor === undefined || kernel?.build !== buildOf(spec.windowsVersion)) return undefined;
  const supported = kubernetesSupport(spec.windowsVersion, minor);
  return (
    supported &&
    `runs kubelet ${node.kubeletVersion} on Windows Server ${yearOf(spec.windowsVersion)}, which Kubernetes supports ${supported}`
  );
}
