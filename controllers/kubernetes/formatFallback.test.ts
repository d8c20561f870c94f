import assert from 'node:assert/strict';
import type { ListWatch, WatchEvent } from '../runtime/ports.ts';
import { withFallback } from './formatFallback.ts';
import { KubernetesError } from './kubernetesError.ts';

const live = new AbortController().signal;
const LIST = { resourceVersion: '0' };
const WATCH = { resourceVersion: '1', sendInitialEvents: true, timeoutSeconds: 300 };
const refusal = (status: number): KubernetesError =>
  new KubernetesError('not that', { status, reason: 'NotAcceptable' });

/** A collection that records its calls, and throws while `failure` returns an error. */
function source(name: string, calls: string[], failure: () => Error | undefined = () => undefined): ListWatch<string> {
  const called = (verb: string): void => {
    calls.push(`${verb} ${name}`);
    const error = failure();
    if (error) throw error;
  };
  return {
    list: async () => {
      called('list');
      return { items: [name], resourceVersion: '1' };
    },
    watch: async function* () {
      called('watch');
      yield [{ type: 'ADDED', item: name }];
    },
  };
}

async function watched(collection: ListWatch<string>): Promise<readonly WatchEvent<string>[]> {
  const events: WatchEvent<string>[] = [];
  for await (const batch of collection.watch(WATCH, live)) events.push(...batch);
  return events;
}

describe('a collection with a fallback format', () => {
  function collection(failure?: () => Error | undefined) {
    const calls: string[] = [];
    const rejections: string[] = [];
    const formats = { preferred: source('protobuf', calls, failure), fallback: source('JSON', calls) };
    return {
      calls,
      rejections,
      both: withFallback({ ...formats, onRefused: (error) => rejections.push(error.message) }),
    };
  }

  it('uses the preferred format while the server supports it', async () => {
    const { calls, rejections, both } = collection();
    assert.deepEqual((await both.list(LIST, live)).items, ['protobuf']);
    assert.deepEqual(await watched(both), [{ type: 'ADDED', item: 'protobuf' }]);
    assert.deepEqual([calls, rejections], [['list protobuf', 'watch protobuf'], []]);
  });

  for (const status of [406, 415]) {
    it(`uses the fallback from the first list that is rejected with ${status}`, async () => {
      const { calls, rejections, both } = collection(() => refusal(status));
      for (let time = 0; time < 2; time++) assert.deepEqual((await both.list(LIST, live)).items, ['JSON']);
      assert.deepEqual(await watched(both), [{ type: 'ADDED', item: 'JSON' }]);
      assert.deepEqual(calls, ['list protobuf', 'list JSON', 'list JSON', 'watch JSON']);
      assert.deepEqual(rejections, ['not that']);
    });

    it(`uses the fallback from the first watch that is rejected with ${status}`, async () => {
      const { calls, rejections, both } = collection(() => refusal(status));
      for (let time = 0; time < 2; time++) assert.deepEqual(await watched(both), [{ type: 'ADDED', item: 'JSON' }]);
      assert.deepEqual((await both.list(LIST, live)).items, ['JSON']);
      assert.deepEqual(calls, ['watch protobuf', 'watch JSON', 'watch JSON', 'list JSON']);
      assert.deepEqual(rejections, ['not that']);
    });
  }

  it('reports once that two concurrent requests are rejected', async () => {
    const { rejections, both } = collection(() => refusal(406));
    await Promise.all([both.list(LIST, live), both.list(LIST, live), watched(both)]);
    assert.deepEqual(rejections, ['not that']);
  });

  for (const error of [
    refusal(410),
    refusal(429),
    refusal(503),
    new KubernetesError('x', { reason: 'ECONNRESET' }),
    new TypeError('x'),
  ]) {
    it(`does not use the fallback after other errors: ${error.name} ${(error as KubernetesError).status ?? ''}`, async () => {
      const { calls, rejections, both } = collection(() => error);
      await assert.rejects(both.list(LIST, live), error);
      await assert.rejects(watched(both), error);
      assert.deepEqual([calls, rejections], [['list protobuf', 'watch protobuf'], []]);
    });
  }

  it('returns the error of the fallback, even a rejection', async () => {
    const calls: string[] = [];
    const refused = source('any', calls, () => refusal(406));
    const both = withFallback({
      preferred: refused,
      fallback: source('JSON', calls, () => refusal(406)),
      onRefused: () => {},
    });
    await assert.rejects(both.list(LIST, live), /not that/);
    await assert.rejects(watched(both), /not that/);
    assert.equal(calls.length, 3);
  });
});
