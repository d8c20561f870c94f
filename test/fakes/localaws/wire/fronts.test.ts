import assert from 'node:assert/strict';
import fc from 'fast-check';
import { adminOf } from '../admin.ts';
import { Faults } from '../faults.ts';
import { callerArnOf, policyFor } from '../localAws.ts';
import { LocalAwsState } from '../state.ts';
import { type Switches, switchTable } from '../switches.ts';
import { openPolicy, sampleCluster, sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud, TestClock } from '../testing/testClock.ts';
import { serviceOf } from './calls.ts';
import { Front } from './front.ts';
import { type Action, actions, filledIn } from './frontActions.ts';
import { HttpFront } from './http.ts';
import type { OperationName, Operations } from './operations.ts';
import { type SdkClients, sdkClients } from './sdkClients.ts';

const switches = fc.record(
  Object.fromEntries(Object.entries(switchTable).map(([key, values]) => [key, fc.constantFrom(...values)])),
) as fc.Arbitrary<Switches>;

// Otherwise few sequences would reach an update.
const beginning: readonly Action[] = [
  { kind: 'call', operation: 'CreateNodegroup', input: sampleGroup() },
  { kind: 'wait', seconds: 3 },
];

/** An HTTP front whose state has a clock of its own. */
async function httpCloud(
  settings: Switches,
): Promise<{ sdk: SdkClients; clock: TestClock; faults: Faults; close(): Promise<void> }> {
  const clock = new TestClock();
  const state = new LocalAwsState({ cluster: sampleCluster, clock, switches: settings });
  const front = new Front(state, policyFor(state, openPolicy));
  const faults = new Faults(state, front);
  const http = new HttpFront(front, adminOf(front, faults), callerArnOf(state));
  const sdk = sdkClients(await http.listen(0), sampleCluster.region);
  const close = async () => {
    sdk.destroy();
    await http.close();
  };
  return { sdk, clock, faults, close };
}

/** The result of a call for a client: the output, or name, message and status of the error. */
async function learned(promise: Promise<object>): Promise<unknown> {
  try {
    const { $metadata: _, ...output } = (await promise) as { $metadata?: object };
    return output;
  } catch (error) {
    const { name: errorName, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
    // Messages of JSON parsers differ.
    return { errorName, message: errorName === 'SyntaxError' ? '' : message, status: $metadata?.httpStatusCode };
  }
}

type Method = (input: object) => Promise<object>;

function overHttp(sdk: SdkClients, operation: OperationName, input: object): Promise<object> {
  const method = `${operation.charAt(0).toLowerCase()}${operation.slice(1)}`;
  const client = sdk[serviceOf(operation)];
  return (Reflect.get(client, method) as Method).call(client, input);
}

describe('the HTTP front and the memory front', () => {
  it('return the same results for the same calls at the same times', async () => {
    await fc.assert(
      fc.asyncProperty(
        switches,
        fc.array(fc.oneof(...actions), { minLength: 10, maxLength: 40 }),
        async (settings, steps) => {
          const http = await httpCloud(settings);
          const memory = memoryCloud({ switches: settings, policy: openPolicy });
          try {
            for (const step of [...beginning, ...steps]) {
              if (step.kind === 'wait') {
                http.clock.advance(step.seconds);
                memory.clock.advance(step.seconds);
              } else if (step.kind === 'fault') {
                step.arm(http.faults);
                step.arm(memory.cloud.faults);
              } else {
                const input = filledIn(step.input, memory.cloud.state);
                const [overWire, direct] = await Promise.all([
                  learned(overHttp(http.sdk, step.operation, input)),
                  learned(memory.cloud.send(step.operation, input as Operations[typeof step.operation]['input'])),
                ]);
                assert.deepEqual(overWire, direct, step.operation);
              }
            }
          } finally {
            await http.close();
          }
        },
      ),
      { numRuns: 60 },
    );
  }).timeout(120_000);
});
