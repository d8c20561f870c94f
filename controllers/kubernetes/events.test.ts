import assert from 'node:assert/strict';
import type { EventRecord } from '../runtime/ports.ts';
import { Recorder } from '../runtime/recorder.ts';
import { recordedLog } from '../runtime/testing/recordedLog.ts';
import { SimulatedClock } from '../runtime/testing/simulatedClock.ts';
import type { WindowsPool } from '../windowspool/api/api.gen.ts';
import type { Event } from '../windowspool/ports/pools.ts';
import { createPoolEvents } from './events.ts';

const pool = { metadata: { name: 'web', uid: 'uid-1' } } as WindowsPool;
const created: Event = {
  type: 'Normal',
  reason: 'NodeGroupCreated',
  action: 'createNodeGroup',
  message: 'Started to create node group web',
};
const denied: Event = {
  type: 'Warning',
  reason: 'AccessDenied',
  action: 'PrerequisitesMet',
  message: 'eks:CreateNodegroup is denied.\nAdd it.',
};

function setUp() {
  const clock = new SimulatedClock();
  const written: EventRecord[] = [];
  const sink = { create: async (event: EventRecord) => void written.push(event), updateSeries: async () => undefined };
  const { log, lines } = recordedLog();
  const recorder = new Recorder({ sink, clock, log, controller: 'winpool.dev/operator', instance: 'pod-1' });
  return { clock, written, lines, events: createPoolEvents(recorder, log) };
}

describe('the events of a pool', () => {
  it('are lines of the log: at info what was done, at warn what is wrong, with the name of the pool', async () => {
    const { clock, written, lines, events } = setUp();
    events.publish(pool, created);
    events.publish(pool, denied);
    events.publishOnNode(pool, { name: 'ip-10-0-1-9', uid: 'uid-2' }, { ...created, reason: 'NodeDrained' });
    await clock.advance(0);
    assert.deepEqual(lines, [
      { level: 'info', pool: 'web', reason: 'NodeGroupCreated', action: 'createNodeGroup', msg: created.message },
      {
        level: 'warn',
        pool: 'web',
        reason: 'AccessDenied',
        action: 'PrerequisitesMet',
        msg: 'eks:CreateNodegroup is denied. Add it.',
      },
      {
        level: 'info',
        pool: 'web',
        node: 'ip-10-0-1-9',
        reason: 'NodeDrained',
        action: 'createNodeGroup',
        msg: created.message,
      },
    ]);
    assert.deepEqual(
      written.map(({ note }) => note),
      lines.map(({ msg }) => msg),
    );
  });

  it('are a line once: not when they repeat, nor beyond the limit of events, and not longer than an event', async () => {
    const { clock, written, lines, events } = setUp();
    for (let run = 0; run < 3; run++) events.publish(pool, created);
    for (let index = 0; index < 100; index++)
      events.publish(pool, { ...denied, message: `${index}${'x'.repeat(5_000)}` });
    await clock.advance(0);
    const printed = lines.filter(({ level }) => level !== 'debug');
    assert.equal(printed.length, 1 + 25);
    assert.deepEqual(
      printed.map(({ msg }) => msg),
      written.map(({ note }) => note),
    );
  });
});
