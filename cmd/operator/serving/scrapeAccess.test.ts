import assert from 'node:assert/strict';
import type { Reviews, User } from '../../../controllers/kubernetes/reviews.ts';
import type { Logger } from '../../../controllers/runtime/ports.ts';
import { silentLog } from '../../../controllers/runtime/testing/silentLog.ts';
import { assertNames } from '../../../test/messages.ts';
import { ScrapeAccess } from './scrapeAccess.ts';

const { signal } = new AbortController();
const CLIENT = '10.0.0.1';
const PROMETHEUS: User = { username: 'system:serviceaccount:monitoring:prometheus', groups: ['system:authenticated'] };

/** An API server that knows one user by the token `good`, and whose answers a test may hold back or replace. */
class ApiServer implements Reviews {
  readonly asked: string[] = [];
  knows = true;
  allows = true;
  error: Error | undefined;
  gate: Promise<void> = Promise.resolve();
  running = 0;
  most = 0;

  readonly userOf: Reviews['userOf'] = async (token) => {
    await this.#answer(`token ${token}`);
    return token === 'good' && this.knows ? PROMETHEUS : undefined;
  };
  readonly mayUse: Reviews['mayUse'] = async ({ username }, verb, path) => {
    await this.#answer(`${username?.split(':').at(-1)} ${verb} ${path}`);
    return this.allows;
  };

  async #answer(question: string): Promise<void> {
    this.asked.push(question);
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    await this.gate;
    this.running -= 1;
    if (this.error) throw this.error;
  }
}

function start(log: Logger = silentLog) {
  const server = new ApiServer();
  const clock = { now: 0 };
  const access = new ScrapeAccess(server, log, () => clock.now, signal);
  const get = async (token = 'good', client = CLIENT) =>
    (await access.refusal(`Bearer ${token}`, 'get', '/metrics', client))?.status ?? 200;
  return { server, clock, access, get };
}

describe('access to the metrics', () => {
  it('is allowed for users that the API server authenticates and authorizes', async () => {
    const { server, get } = start();
    assert.equal(await get(), 200);
    assert.deepEqual(server.asked, ['token good', 'prometheus get /metrics']);
  });

  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic YTpi',
    'good',
    'Bearer a b',
    'Bearer gööd',
    'Bearer a\tb',
  ]) {
    it(`is denied for the header ${JSON.stringify(header)} without a review`, async () => {
      const { server, access } = start();
      const refusal = await access.refusal(header, 'get', '/metrics', CLIENT);
      assert.deepEqual([refusal?.status, server.asked], [401, []]);
    });
  }

  it('is denied with a remedy: another token, or a ClusterRole', async () => {
    const { server, access } = start();
    server.allows = false;
    const refusals = ['bad', 'good'].map((token) => access.refusal(`bearer ${token}`, 'get', '/metrics', CLIENT));
    const [bad, good] = await Promise.all(refusals);
    assert.deepEqual([bad?.status, good?.status], [401, 403]);
    assertNames(
      good?.text,
      'User system:serviceaccount:monitoring:prometheus',
      '/metrics',
      'ClusterRole windowspool-operator-metrics-reader',
    );
  });

  it('is cached: a user for a minute, allowed access for five minutes, denied access for half a minute', async () => {
    const { server, clock, get } = start();
    const asked = async (at: number) => {
      clock.now = at * 1_000;
      await get();
      return server.asked.splice(0).map((question) => question.split(' ')[0]);
    };
    assert.deepEqual(await asked(0), ['token', 'prometheus']);
    assert.deepEqual(await asked(59), []);
    assert.deepEqual(await asked(60), ['token']);
    assert.deepEqual(await asked(299), ['token']);
    assert.deepEqual(await asked(300), ['prometheus']);
    server.allows = false;
    assert.deepEqual(await asked(601), ['token', 'prometheus']);
    assert.deepEqual(await asked(630), []);
    assert.deepEqual(await asked(631), ['prometheus']);
  });

  it('costs the API server one review a second for a client that sends endless tokens, and other clients nothing', async () => {
    const { server, clock, access, get } = start();
    const bogus = (index: number) => access.refusal(`Bearer bogus-${index}`, 'get', '/metrics', '10.0.0.66');
    const statuses = new Set<number | undefined>();
    for (let index = 0; index < 6_000; index++) {
      clock.now = index * 10;
      statuses.add((await bogus(index))?.status);
    }
    assert.deepEqual(statuses, new Set([401, 429]));
    assert.ok(server.asked.length <= 60 + 20, `${server.asked.length} reviews in a minute`);
    assert.equal(await get(), 200);
  });

  it('ends within a minute after a token expires', async () => {
    const { server, clock, get } = start();
    assert.equal(await get(), 200);
    server.knows = false;
    clock.now = 60_000;
    assert.equal(await get(), 401);
  });

  it('is denied with the cause while the API server does not respond, and reviewed again for the next request', async () => {
    const warnings: unknown[] = [];
    const { server, access, get } = start({ ...silentLog, warn: (fields) => void warnings.push(fields) });
    server.error = new Error('127.0.0.1:6443 does not respond (ECONNREFUSED)');
    for (let i = 0; i < 3; i++) {
      const refusal = await access.refusal('Bearer good', 'get', '/metrics', CLIENT);
      assert.equal(refusal?.status, 503);
      assertNames(refusal.text, '127.0.0.1:6443', 'ECONNREFUSED');
    }
    assert.deepEqual([server.asked.length, warnings.length], [3, 1]);
    server.error = undefined;
    assert.equal(await get(), 200);
  });

  it('logs at most one warning a minute, whatever the number of requests and their errors', async () => {
    const warnings: unknown[] = [];
    const { server, clock, get } = start({ ...silentLog, warn: (fields) => void warnings.push(fields) });
    const fail = async (at: number, cause: string) => {
      clock.now = at;
      server.error = new Error(cause);
      assert.equal(await get(`${cause} ${at}`.replaceAll(' ', '-')), 503);
      server.error = undefined;
      await get();
    };
    for (let i = 0; i < 10; i++) await fail(i, `cause ${i % 2}`);
    assert.deepEqual(warnings, [{ error: 'cause 0' }]);
    await fail(60_000, 'cause 1');
    assert.deepEqual(warnings, [{ error: 'cause 0' }, { error: 'cause 1' }]);
  });

  it('is still allowed for cached users while the API server is unavailable', async () => {
    const { server, clock, get } = start();
    await get();
    server.error = new Error('away');
    assert.equal(await get(), 200);
    clock.now = 60_000;
    assert.equal(await get(), 503);
  });

  it('is reviewed once for concurrent requests with one token, and with limited concurrency for many tokens', async () => {
    const { server, get } = start();
    const gate = Promise.withResolvers<void>();
    server.gate = gate.promise;
    const same = Array.from({ length: 20 }, () => get());
    const others = Array.from({ length: 100 }, (_, i) => get(`bad${i}`, `client ${i}`));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(server.asked.filter((question) => question === 'token good').length, 1);
    gate.resolve();
    assert.deepEqual(new Set(await Promise.all(same)), new Set([200]));
    const statuses = await Promise.all(others);
    assert.equal(server.most, 5);
    // Requests beyond the queue are rejected with 503.
    assert.deepEqual([statuses.includes(401), statuses.includes(503), statuses.includes(200)], [true, true, false]);
  });

  it('is cached for at most a thousand tokens', async () => {
    const { server, get } = start();
    await get('first');
    for (let i = 0; i < 1_000; i++) await get(`bad${i}`, `client ${i}`);
    server.asked.length = 0;
    await get('bad999');
    await get('first');
    assert.deepEqual(server.asked, ['token first']);
  });
});
