/**
 * The world in memory with every request of the operator numbered, as the killing proxy and the gate of the local AWS number those of a
 * process. Events are not among them: they are sent beside the reconcile, so a kill at one is a kill at the call next to it. Neither are
 * watches: what is in the caches is always true here.
 */
import { setImmediate } from 'node:timers/promises';
import type { CallResult } from '../../controllers/windowspool/ports/callResult.ts';
import type { Deps } from '../../controllers/windowspool/reconcile.ts';
import { isAwsCall } from '../../controllers/windowspool/testing/fakeCalls.ts';
import type { Switches } from '../fakes/localaws/switches.ts';
import type { CallEntry } from '../fakes/localaws/wire/callLog.ts';
import { LocalAwsWorld } from '../fakes/simulation/localAwsWorld.ts';
import { type GatedRequest, type Moment, OperatorKilled, type RequestGate } from './requestGate.ts';

/** The requests that each call of the fake API server stands for; the last of them has its effect. */
const REQUESTS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'read pool': ['GET windowspools'],
  'list pools': ['GET windowspools'],
  'add finalizer': ['PATCH windowspools'],
  'remove finalizer': ['PATCH windowspools'],
  'write status': ['PUT windowspools/status'],
  'create RuntimeClass': ['POST runtimeclasses'],
  'apply RuntimeClass': ['PATCH runtimeclasses'],
  'add owner of RuntimeClass': ['PATCH runtimeclasses'],
  'remove owner of RuntimeClass': ['PATCH runtimeclasses'],
  'delete RuntimeClass': ['DELETE runtimeclasses'],
  'label node': ['PATCH nodes'],
  'taint node': ['PATCH nodes'],
  'cordon node': ['PATCH nodes'],
  'restore node': ['PATCH nodes'],
  'write node condition': ['PATCH nodes/status'],
  'read node': ['GET nodes'],
  'list nodes of group': ['GET nodes'],
  'list nodes outside': ['GET nodes'],
  'list unmanaged nodes': ['GET nodes'],
  'list Linux nodes': ['GET nodes'],
  'list Linux groups': ['GET nodes'],
  'list pods': ['GET pods'],
  'list CoreDNS pods': ['GET pods'],
  'list events': ['GET events'],
  'create pod': ['POST pods'],
  'delete pod': ['DELETE pods'],
  'get ConfigMap amazon-vpc-cni': ['GET configmaps'],
  'get ConfigMap aws-auth': ['GET configmaps'],
  'get ConfigMap of user data': ['GET configmaps'],
  'get Deployment vpc-resource-controller': ['GET deployments'],
  'get MutatingWebhookConfiguration': ['GET mutatingwebhookconfigurations'],
};

/** A drain takes two passes: in each of more, the operator makes the same requests in the same state. */
const GRACE_SECONDS = 6;

/** Whether the world in memory has requests of this name; see the top of the file for those that it has not. */
export function isNumberedInMemory(request: string): boolean {
  return !/^(WATCH|GET \/version|\w+ events)/.test(request);
}

export class MemoryWorld extends LocalAwsWorld {
  /** When each request arrived, in epoch milliseconds. */
  readonly arrivals: number[] = [];
  readonly #gate: RequestGate;
  readonly #gatedRequests = new WeakMap<CallEntry, GatedRequest>();
  /** Whether the process that sends requests has been killed. */
  #isDead = false;

  /** @param done called with each call to AWS once it has taken effect */
  constructor(gate: RequestGate, switches: Partial<Switches>, done: (entry: CallEntry) => void) {
    super({ kubernetesVersion: '1.36', switches, podGraceSeconds: GRACE_SECONDS });
    this.#gate = gate;
    this.cloud.front.gate = async (entry, moment) => {
      const gated = this.#gatedRequests.get(entry) ?? this.#arrive(entry.operation);
      this.#gatedRequests.set(entry, gated);
      if (moment === 'after') done(entry);
      await this.#hold(gated, moment);
    };
  }

  /** From here on, no request of the operator takes effect. */
  kill(): void {
    this.#isDead = true;
  }

  /** Resolves when nothing of a killed operator runs any more. It has no timers, only pending promises. */
  async stopped(): Promise<void> {
    if (this.#isDead) await setImmediate();
  }

  override start(): Deps {
    this.#isDead = false;
    const deps = super.start();
    const { podsOn, evict } = deps.drains;
    return {
      ...deps,
      drains: {
        podsOn: (...args) => this.#request('GET pods', () => podsOn.apply(deps.drains, args)),
        evict: (...args) => this.#request('POST pods/eviction', () => evict.apply(deps.drains, args)),
      },
    };
  }

  protected override async call<T>(call: string, work: () => T | Promise<T>): Promise<CallResult<T>> {
    // The gate of the local AWS numbers its own.
    if (isAwsCall(call)) return super.call(call, work);
    const requests = REQUESTS[call];
    if (!requests) throw new TypeError(`no request is known for the call "${call}"; add it to REQUESTS`);
    for (const read of requests.slice(0, -1)) await this.#request(read, async () => undefined);
    return this.#request(requests.at(-1) ?? '', () => super.call(call, work));
  }

  async #request<T>(kind: string, work: () => Promise<T>): Promise<T> {
    const gated = this.#arrive(kind);
    await this.#hold(gated, 'before');
    const answer = await work();
    await this.#hold(gated, 'after');
    return answer;
  }

  #arrive(kind: string): GatedRequest {
    this.arrivals.push(this.now);
    return this.#gate.arrive(kind);
  }

  /** An answer may still reach a killed operator, whose next request is rejected. */
  async #hold(gated: GatedRequest, moment: Moment): Promise<void> {
    if (!this.#isDead) await gated.hold(moment);
    if (this.#isDead && moment === 'before') throw new OperatorKilled('a request of a killed operator');
  }
}
