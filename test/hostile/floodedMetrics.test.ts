/**
 * Clients without permission flood /metrics with other tokens, and hold connections that send a byte a second. Prometheus, whose token was reviewed, is served
 * meanwhile, pools are reconciled, and the API server gets few reviews.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { waitFor } from '../../hack/controlplane/wait.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { metricsPort, scrape } from '../monitoring/scraper.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';

const FLOOD_MS = 25_000;
/** Each sends one request after the other. */
const GUESSING = 20;
/** Fewer than the operator accepts, with those that guess. */
const SLOW = 150;
/** Addresses of two pods. */
const [GUESSER, SLOW_CLIENT] = ['127.0.0.2', '127.0.0.3'];
/** Of one client: 20, then one a second. Time to start and stop is not counted exactly. */
const MOST_REVIEWS = 20 + FLOOD_MS / 1_000 + 10;
/** Below the limit of the Deployment, 512 MiB. */
const MOST_MEMORY_MB = 400;

describe('clients that flood the metrics endpoint', function () {
  this.timeout(180_000);
  let world: TestEnv;
  let operator: OperatorProcess;
  let token: string;

  before(async () => {
    world = await theWorld();
    const role = '--clusterrole=windowspool-operator-metrics-reader';
    await world.kubectl('create', 'serviceaccount', 'scraper');
    await world.kubectl('create', 'clusterrolebinding', 'flooded', role, '--serviceaccount=default:scraper');
    operator = await world.operator(['--metrics-secure=true', '--leader-elect=false']).ready();
    token = (await world.kubectl('create', 'token', 'scraper')).trim();
    const isServed = async () => (await scrape(operator, { token })).status === 200;
    await waitFor(isServed, { what: 'the first scrape', timeoutMs: 20_000 });
  });
  after(async () => {
    await world.kubectl('delete', 'windowspools', '--all', '--timeout=60s');
    await operator?.stop();
    await world.kubectl('delete', 'clusterrolebinding', 'flooded');
    await world.kubectl('delete', 'serviceaccount', 'scraper');
  });

  const reviews = async () => {
    const { body } = await scrape(operator, { token });
    const counted = [...body.matchAll(/^rest_client_requests_total\{code="201",method="POST",.*\} (\d+)$/gm)];
    return counted.reduce((sum, [, count]) => sum + Number(count), 0);
  };

  /** Sends tokens that nobody issued, and counts the answers by their status. */
  async function guess(until: number, answers: Map<number, number>): Promise<void> {
    for (let index = 0; performance.now() < until; index++) {
      const { status } = await scrape(operator, { token: `guess-${Math.random()}-${index}`, localAddress: GUESSER });
      answers.set(status, (answers.get(status) ?? 0) + 1);
    }
  }

  /** Holds a connection, and sends its request by a byte a second; a new one when the operator closes it. Returns how many it closed. */
  async function dawdle(until: number): Promise<number> {
    for (let closed = 0; ; closed++) {
      const below = connectTcp({ host: '127.0.0.1', port: metricsPort(operator), localAddress: SLOW_CLIENT });
      const socket = connect({ socket: below.on('error', () => undefined), rejectUnauthorized: false });
      const ended = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
      socket.on('error', () => undefined).resume();
      const timer = setInterval(() => socket.write('G'), 1_000);
      await Promise.race([ended, sleep(Math.max(0, until - performance.now()))]);
      clearInterval(timer);
      socket.destroy();
      if (performance.now() >= until) return closed;
    }
  }

  /** Scrapes once a second, as a Prometheus with a short interval. Returns the answers that were not 200, and the longest delay of the event loop in seconds. */
  async function scrapeAll(until: number): Promise<{ others: readonly number[]; delay: number }> {
    const others: number[] = [];
    let delay = 0;
    for (; performance.now() < until; await sleep(1_000)) {
      const { status, body } = await scrape(operator, { token });
      if (status !== 200) others.push(status);
      // Since the scrape before.
      delay = Math.max(delay, Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(body)?.[1] ?? 0));
    }
    return { others, delay };
  }

  it('are refused with few reviews, while Prometheus is served and a pool becomes Ready', async () => {
    const before = await reviews();
    const until = performance.now() + FLOOD_MS;
    const answers = new Map<number, number>();
    const [closed, { others, delay }] = await Promise.all([
      Promise.all(Array.from({ length: SLOW }, () => dawdle(until))),
      scrapeAll(until),
      Promise.all(Array.from({ length: GUESSING }, () => guess(until, answers))),
      world.apply(poolManifest('flooded')).then(() => world.waitForReady('flooded')),
    ]);
    assert.deepEqual(others, [], 'answers to Prometheus');
    assert.deepEqual([...answers.keys()].sort(), [401, 429], JSON.stringify([...answers]));
    const asked = (await reviews()) - before;
    assert.ok(asked <= MOST_REVIEWS, `${asked} reviews for ${answers.get(429)} refused requests`);
    const dropped = closed.reduce((sum, one) => sum + one, 0);
    assert.ok(dropped >= SLOW, `${dropped} slow connections were closed`);
    // Printed below, and not compared: other suites delay it, too.
    assert.ok(delay > 0, `event loop delay ${delay} s`);
    const status = await readFile(`/proc/${operator.pid}/status`, 'utf8');
    const memory = Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_000);
    assert.ok(memory < MOST_MEMORY_MB, `the operator had ${memory} MB`);
    console.log(
      `      ${[...answers].map(([code, count]) => `${count} x ${code}`)}, ${asked} reviews, ${dropped} slow connections closed, event loop delay ${delay.toFixed(3)} s, ${memory} MB`,
    );
  });
});
