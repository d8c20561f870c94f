/**
 * The smoke test of a node: a pod with a container for each request, so that the exit code of curl tells which one failed. Pure.
 *
 * nanoserver and servercore have curl.exe in their path: https://github.com/rust-lang/rustup/issues/1994 uses that of nanoserver.
 */
import type { SmokeTestSpec } from '../api.gen.ts';
import type { SmokeCheck, SmokeTestState } from '../model/nodePods.ts';
import type { ContainerState, NodePod, NodePodContainer } from '../ports/nodePods.ts';
import { hasEnded } from '../ports/pods.ts';
import { type Attempt, retryAt, startDeadline, whyNotStarted } from './attempts.ts';
import { pullErrorIn, startErrorIn } from './imagePull.ts';

const SERVICE = 'service';
const EGRESS = 'egress';

/** Of curl: the host cannot be resolved. https://everything.curl.dev/cmdline/exitcode.html */
const NO_HOST = 6;
/** Of curl: a timeout. The message says whether no DNS server answered in time: https://github.com/curl/curl/issues/4139 */
const TIMEOUT = 28;
const NO_DNS_SERVER = /\bResolving timed out\b/i;
/** Reasons of containers that did not run: of containerd, of dockershim, and of a kubelet that lost one. */
const NOT_STARTED: readonly string[] = ['StartError', 'ContainerCannotRun', 'ContainerStatusUnknown'];
/** Of curl. Windows ends a process that crashes with larger or negative codes. */
const HIGHEST_CODE = 255;

/** The containers of a test. Any response counts: what the test checks is the network, not the server or its certificate. */
export function testContainers({ image, serviceURL, egressURL }: SmokeTestSpec): NodePodContainer[] {
  const request = (name: NodePodContainer['name'], url: string): NodePodContainer => ({
    name,
    image,
    command: [...CURL, url],
  });
  return [request(SERVICE, serviceURL), ...(egressURL ? [request(EGRESS, egressURL)] : [])];
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
  const [service, egress] = [stateIn(pod, SERVICE), stateIn(pod, EGRESS)];
  for (const state of [service, egress])
    if (state && isStartError(state)) return { check: 'Start', message: said(state) };
  const [noService, noEgress] = [failedIn(service), failedIn(egress)];
  if (noService) return { check: isUnresolved(noService) ? 'DNS' : 'Service', message: said(noService) };
  // The result of the Service says more, and comes within seconds.
  const isLast = service?.kind === 'ended' || hasEnded(pod) || now >= startDeadline(pod, timeoutMs);
  if (noEgress) return isLast ? { check: 'Egress', message: said(noEgress) } : undefined;
  const why = startErrorIn(pod) ?? whyNotStarted(pod, timeoutMs, now);
  if (why === undefined) return undefined;
  // With another reason, the kubelet rejected or ended the pod, which then needs no address.
  const isWithoutAddress = pod.isScheduled && !pod.hasAddress && ['', 'DeadlineExceeded'].includes(pod.reason);
  return isWithoutAddress
    ? { check: 'PodIP', message: `${why}, and has no IP address` }
    : { check: 'Start', message: why };
}

type Ended = Extract<ContainerState, { kind: 'ended' }>;

function failedIn(state: ContainerState | undefined): Ended | undefined {
  return state?.kind === 'ended' && state.exitCode !== 0 ? state : undefined;
}

function isUnresolved({ exitCode, message }: Ended): boolean {
  return exitCode === NO_HOST || (exitCode === TIMEOUT && NO_DNS_SERVER.test(message));
}

function stateIn({ containers }: NodePod, name: string): ContainerState | undefined {
  return containers.find((container) => container.name === name)?.state;
}

function isStartError(state: ContainerState): boolean {
  if (state.kind !== 'ended') return false;
  return NOT_STARTED.includes(state.reason) || state.exitCode < 0 || state.exitCode > HIGHEST_CODE;
}

/** The kubelet reports the last lines of the log of a container that failed, if it can. */
function said(state: ContainerState): string {
  if (state.kind !== 'ended') return '';
  return state.message || `curl.exe ended with exit code ${state.exitCode} (${state.reason || 'no reason'})`;
}
