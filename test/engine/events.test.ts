import assert from 'node:assert/strict';
import { createEventSink } from '../../controllers/kubernetes/events.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import { Recorder } from '../../controllers/runtime/recorder.ts';
import { silentLog } from '../../controllers/runtime/testing/silentLog.ts';
import { until, withClient } from './clientFixture.ts';

describe('events on a real API server', () => {
  const fixture = withClient();

  it('writes events that kubectl describe shows, repeated ones as a series', async () => {
    const { seen, end } = await fixture.makePools('adapter-events');
    const recorder = new Recorder({
      sink: createEventSink(fixture.client),
      clock: realClock,
      log: silentLog,
      controller: 'winpool.dev/windowspool-operator',
      instance: 'test',
    });
    const { name, uid } = seen('adapter-events').metadata;
    const regarding = { apiVersion: 'winpool.dev/v1alpha1', kind: 'WindowsPool', name, uid };
    const message = {
      type: 'Warning',
      reason: 'WrongBuild',
      action: 'Verify',
      note: 'node-1 has build 10.0.17763',
    } as const;
    recorder.publish(regarding, message);
    await until('the first event', async () =>
      (await fixture.world.kubectl('describe', 'wp', name)).includes('WrongBuild'),
    );
    recorder.publish(regarding, message);
    recorder.publish(regarding, message);
    await recorder.stop(30_000);
    type Event = { regarding: { name: string }; note: string; series?: { count: number } };
    const events = (await fixture.world.list<Event>('events.events.k8s.io', '-n', 'default')).filter(
      (event) => event.regarding.name === name,
    );
    assert.deepEqual(
      events.map(({ note, series }) => [note, series?.count]),
      [['node-1 has build 10.0.17763', 3]],
    );
    await end(name);
  });
});
