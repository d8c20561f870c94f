import assert from 'node:assert/strict';
import { waitFor } from '../../../../hack/controlplane/wait.ts';
import type { InstanceRecord } from '../records.ts';
import { type AddressEvent, IpamGate } from './ipamGate.ts';

const eventOf = (id: string): AddressEvent & { readonly instance: { state: InstanceRecord['state'] } } => ({
  kind: 'podAddresses',
  // The gate reads no other fields.
  instance: { id, state: 'running' } as InstanceRecord,
});

describe('the gate of Windows IPAM', () => {
  let stopping: AbortController;
  beforeEach(() => {
    stopping = new AbortController();
  });
  afterEach(() => stopping.abort());

  const passed = (ids: readonly string[], count: number) =>
    waitFor(() => ids.length === count, { what: `${count} nodes to pass`, timeoutMs: 20_000, intervalMs: 5 });

  it('delays nodes until IPAM is enabled, also while that is unknown, except those that terminate in the meantime', async () => {
    const answers = [() => Promise.reject(new Error('no answer')), () => Promise.resolve(false)];
    const ids: string[] = [];
    const events = ['a', 'b', 'c'].map(eventOf);
    const isOn = () => {
      const [, ended] = events;
      if (answers.length === 0 && ended !== undefined) ended.instance.state = 'terminated';
      return (answers.shift() ?? (() => Promise.resolve(true)))();
    };
    const gate = new IpamGate(isOn, ({ instance }) => ids.push(instance.id), stopping.signal);
    for (const event of events) gate.wait(event);
    await passed(ids, 2);
    assert.deepEqual(ids, ['a', 'c']);
  });

  it('also polls for later nodes, and not without waiting nodes', async () => {
    let asked = 0;
    const ids: string[] = [];
    const isOn = async () => {
      asked += 1;
      return true;
    };
    const gate = new IpamGate(isOn, ({ instance }) => ids.push(instance.id), stopping.signal);
    gate.wait(eventOf('a'));
    await passed(ids, 1);
    gate.wait(eventOf('b'));
    await passed(ids, 2);
    assert.equal(asked, 2);
  });
});
