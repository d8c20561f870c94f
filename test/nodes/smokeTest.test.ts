/** Smoke tests on new nodes before the operator verifies them. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { image, withNodePods } from './nodePodsFixture.ts';

const POOL = 'tested';
const NANO = image('nanoserver');
/** Failures of a test before its node fails. */
const FAILURES = 3;

const COMPLETED = { terminated: { exitCode: 0, reason: 'Completed' } };
const NO_DNS = {
  terminated: { exitCode: 6, reason: 'Error', message: 'curl: (6) Could not resolve host: kubernetes.default.svc\r\n' },
};

describe('a pool that tests its new nodes', () => {
  const { fixture, running, report, untilNone, becomes, gated } = withNodePods('--join-grace=5s');
  const opens = () => waitFor(async () => (await gated(POOL)).length === 0, { what: 'the gate to open' });
  /** Retries a test at once, as users do who have repaired its cause. */
  const retry = (value: string) =>
    fixture.world.kubectl('annotate', 'windowspool', POOL, `winpool.dev/retry=${value}`, '--overwrite');

  /** Waits until the pool names the check that failed. */
  const shows = (check: string) =>
    fixture.world.waitForPool(POOL, `to show the failure of ${check}`, (pool) =>
      messageOf(pool, 'NodesVerified').includes(` at ${check}: `),
    );

  before(() =>
    fixture.world.apply(
      poolManifest(POOL, {
        verification: { policy: 'Gate', smokeTest: { image: NANO } },
        nodeGroup: { scaling: { minSize: 1, maxSize: 3, desiredSize: 1 } },
      }),
    ),
  );

  it('fails a node without DNS when the test has failed three times, and the node stays behind the gate', async () => {
    const seen = new Set<string>();
    for (let failures = 1; failures <= FAILURES; failures++) {
      const pod = await running(POOL, NANO, ({ metadata }) => !seen.has(metadata.uid));
      seen.add(pod.metadata.uid);
      await report(pod, 'Failed', { service: NO_DNS });
      await shows('DNS');
      if (failures < FAILURES) await retry(String(failures));
    }
    await becomes(POOL, 'NodesVerified', 'False/SmokeTestFailed');
    const message = messageOf(await fixture.world.pool(POOL), 'NodesVerified');
    assertNames(message, 'DNS', '(6) Could not resolve host: kubernetes.default.svc');
    assert.equal((await gated(POOL)).length, 1);
  });

  it('continues with the same pod after a restart of the operator, and opens the gate when the test passes', async () => {
    await retry('repaired');
    const before = await running(POOL, NANO);
    await fixture.operator.kill();
    await fixture.restart();
    const pod = await running(POOL, NANO);
    assert.equal(pod.metadata.uid, before.metadata.uid);
    await report(pod, 'Succeeded', { service: COMPLETED });
    await becomes(POOL, 'Ready', 'True/EnoughNodesVerified');
    await opens();
    await untilNone(POOL);
  });
});
