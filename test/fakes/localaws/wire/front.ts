import { AwsFault } from '../awsFault.ts';
import type { Policy } from '../iam/iam.ts';
import type { LocalAwsState } from '../state.ts';
import { type Breakage, CallFaults } from './callFaults.ts';
import { type CallEntry, CallLog } from './callLog.ts';
import { call, isServed } from './calls.ts';
import type { Caller, Operations } from './operations.ts';
import type { Service } from './shapes.ts';
import { StaleReads } from './staleReads.ts';

/** The result of a call, before its serialization. */
export type Reply =
  | { readonly kind: 'output'; readonly output: object }
  | { readonly kind: 'fault'; readonly fault: AwsFault; readonly retryAfterSeconds?: number }
  | { readonly kind: 'breakage'; readonly breakage: Breakage };

/** Called when a call has arrived, and when it has taken effect before its response; the call waits for it. */
export type Gate = (entry: CallEntry, phase: 'before' | 'after') => void | Promise<void>;

/** Shared by the HTTP front and the memory front: the list of calls, the injected faults, stale reads, the call itself. */
export class Front {
  readonly state: LocalAwsState;
  readonly policy: Policy;
  readonly faults = new CallFaults();
  readonly staleReads = new StaleReads<Reply>();
  readonly log = new CallLog();
  gate: Gate = () => {};

  constructor(state: LocalAwsState, policy: Policy) {
    this.state = state;
    this.policy = policy;
  }

  /** Serves one call. Errors of the caller are returned as results; only errors of the local AWS itself are thrown. */
  async serve(service: Service, operation: string, input: object, caller: Caller): Promise<Reply> {
    const now = this.state.timeline.now();
    const entry = this.log.add(operation, input, caller, now);
    const injected = this.faults.next(service, operation, input, now.getTime());
    await this.gate(entry, 'before');
    if (injected?.kind === 'fault') return this.#ended(entry, injected);
    if (injected?.kind === 'breakage' && !injected.after) return this.#ended(entry, injected);
    const at = this.state.timeline.now().getTime();
    const reply = this.staleReads.answer(operation, input, at, () => this.#run(entry, input, caller));
    await this.gate(entry, 'after');
    return this.#ended(entry, injected ?? reply);
  }

  #run(entry: CallEntry, input: object, caller: Caller): Reply {
    const { operation } = entry;
    try {
      if (!isServed(operation))
        throw new AwsFault('NotImplementedException', `test/fakes/localaws does not serve ${operation}`);
      // The model check inside makes sure that the object is the input of that operation.
      const checked = input as Operations[typeof operation]['input'];
      const output = call(this.state, this.policy, operation, checked as never, caller);
      entry.isDone = true;
      return { kind: 'output', output };
    } catch (error) {
      if (error instanceof AwsFault) return { kind: 'fault', fault: error };
      entry.result = 'test/fakes/localaws failed';
      entry.message = String(error instanceof Error ? error.stack : error);
      throw error;
    }
  }

  #ended(entry: CallEntry, reply: Reply): Reply {
    if (reply.kind === 'output') entry.result = 'ok';
    if (reply.kind === 'breakage') entry.result = reply.breakage.kind;
    if (reply.kind === 'fault') {
      entry.result = reply.fault.name;
      entry.message = reply.fault.message;
    }
    return reply;
  }
}
