/**
 * The smoke test of a node: a pod that requests a Service. The exit code of curl tells whether its name was resolved. Pure.
 *
 * nanoserver and servercore have curl.exe in their path: https://github.com/rust-lang/rustup/issues/1994 uses that of nanoserver.
 */
import type { SmokeTestSpec } from '../api/api.gen.ts';
import type { SmokeCheck, SmokeTestState } from '../model/nodePodNeeds.ts';
import type { ContainerState, NodePod, NodePodContainer } from '../ports/nodePods.ts';
import { hasEnded } from '../ports/pods.ts';
import { type Attempt, retryAt, whyNotStarted } from './attempts.ts';
import { pullErrorIn, startErrorIn } from './imagePull.ts';

const SERVICE = 'service';

/** Of curl: the host cannot be resolved. https://everything.curl.dev/cmdline/exitcode.html */
const NO_HOST = 6;
/** Of curl: a timeout. The message says whether no DNS server answered in time: https://github.com/curl/curl/issues/4139 */
const TIMEOUT = 28;
const NO_DNS_SERVER = /\bResolving timed out\b/i;
/** Reasons of containers that did not run: of containerd, of dockershim, and of a kubelet that lost one. */
const NOT_STARTED: readonly string[] = ['StartError', 'ContainerCannotRun', 'ContainerStatusUnknown'];
/** Of curl. Windows ends a process that crashes with larger or negative codes. */
const HIGHEST_CODE = 255;

/** The container of a test. Any response counts: what the test checks is the network, not the server or its certificate. */
export function testContainer({ image, serviceURL }: SmokeTestSpec): NodePodContainer {
  return { name: SERVICE, image, command: [...CURL, serviceURL] };
}

/** In a container, `NUL` is the null device of Windows. Times are in seconds. */
const CURL: readonly string[] = [
  'curl.exe',
  '--silent',
  '--show-error',
  '--insecure',
  // Brackets and braces in a URL would otherwise be a list of requests.
  '--globoff',
  // A pod uses no proxy, whatever the environment of the image says.
  '--noproxy',
  '*',
  // A large body could take longer than a slow network.
  '--head',
  '--output',
  'NUL',
  '--connect-timeout',
  '10',
  '--max-time',
  '30',
];

interface Failure {
  readonly check: SmokeCheck;
  readonly message: string;
}

/** The state of the test of a node. A failure is reported until a later attempt has passed or failed. */
export function testStateOf(attempts: readonly Attempt[], timeoutMs: number, now: number): SmokeTestState {
  const [latest] = attempts;
  if (!latest) return { kind: 'waiting' };
  if (attempts.some(({ pod }) => pod.phase === 'Succeeded')) return { kind: 'passed' };
  for (const { number, pod } of attempts) {
    const failure = failureOf(pod, timeoutMs, now);
    if (!failure) continue;
    return {
      kind: 'failed',
      ...failure,
      attempts: number,
      retryAt: hasEnded(latest.pod) ? retryAt(latest, timeoutMs) : undefined,
    };
  }
  return { kind: 'running' };
}

/** Which check of the test failed; undefined while none did. */
function failureOf(pod: NodePod, timeoutMs: number, now: number): Failure | undefined {
  const pullError = pullErrorIn(pod);
  if (pullError !== undefined) return { check: 'Start', message: `the image cannot be pulled: ${pullError}` };
  const state = pod.containers.find(({ name }) => name === SERVICE)?.state;
  if (state?.kind === 'ended' && state.exitCode !== 0) return { check: checkOf(state), message: said(state) };
  const why = startErrorIn(pod) ?? whyNotStarted(pod, timeoutMs, now);
  if (why === undefined) return undefined;
  // With another reason, the kubelet rejected or ended the pod, which then needs no address.
  const isWithoutAddress = pod.isScheduled && !pod.hasAddress && ['', 'DeadlineExceeded'].includes(pod.reason);
  return isWithoutAddress
    ? { check: 'PodIP', message: `${why}, and has no IP address` }
    : { check: 'Start', message: why };
}

type Ended = Extract<ContainerState, { kind: 'ended' }>;

/** The check that failed when the container ended with this state. */
function checkOf({ exitCode, reason, message }: Ended): SmokeCheck {
  if (NOT_STARTED.includes(reason) || exitCode < 0 || exitCode > HIGHEST_CODE) return 'Start';
  return exitCode === NO_HOST || (exitCode === TIMEOUT && NO_DNS_SERVER.test(message)) ? 'DNS' : 'Service';
}

/** The kubelet reports the last lines of the log of a container that failed, if it can. */
function said({ exitCode, reason, message }: Ended): string {
  return message || `curl.exe ended with exit code ${exitCode} (${reason || 'no reason'})`;
}
