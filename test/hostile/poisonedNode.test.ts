/** One kubelet reports values that are hard to read. The pools of the cluster, the watches and a restart must not depend on it. */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { conditionOf, messageOf } from '../fakes/testenv/testEnv.ts';
import { type Watched, watchEvents } from '../fakes/testenv/watchEvents.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';
import { acceptedFrom, nodeOf, reportStatus } from './kubelet.ts';

const READY = 'True/EnoughNodesVerified';

interface Poison {
  readonly what: string;
  /** JSON, because an object literal has no own key __proto__. */
  readonly status: (kernelVersion: string) => string;
  /** What the node has then: the API server accepts all of it. */
  readonly stored: string;
}

const info = (kernelVersion: string, more = {}) => JSON.stringify({ kernelVersion, ...more });
const poisons: readonly Poison[] = [
  {
    what: 'a resource __proto__',
    status: (kernel) => `{"capacity":{"__proto__":"1"},"allocatable":{"__proto__":"1"},"nodeInfo":${info(kernel)}}`,
    stored: '"__proto__": "1"',
  },
  {
    what: 'a resource without a name',
    status: (kernel) => `{"capacity":{"":"1"},"nodeInfo":${info(kernel)}}`,
    stored: '"": "1"',
  },
  {
    what: 'a condition that changed before 1970',
    status: (kernel) => {
      const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' };
      const conditions = [
        { ...ready, lastTransitionTime: '1901-12-13T20:45:51Z', lastHeartbeatTime: '0001-01-02T00:00:00Z' },
      ];
      return `{"conditions":${JSON.stringify(conditions)},"nodeInfo":${info(kernel)}}`;
    },
    stored: '"1901-12-13T20:45:51Z"',
  },
  {
    what: '200 KB of dots as the version of its container runtime',
    status: (kernel) => `{"nodeInfo":${info(kernel, { containerRuntimeVersion: '.'.repeat(200_000) })}}`,
    stored: '.'.repeat(200_000),
  },
];

describe('a node whose kubelet reports', () => {
  const fixture = withOperator();
  let node: string;
  let watch: Watched;
  /** Each state of the condition Ready of the bystander, which has no node of the kubelet. */
  const states = new Set<string>();
  let reports = 0;

  const isReady = (pool: WindowsPool | undefined) => conditionOf(pool, 'Ready') === READY;
  async function assertBecomesReady(name: string): Promise<void> {
    await fixture.world.apply(poolManifest(name));
    await fixture.world.waitForPool(name, 'to be Ready', isReady);
  }

  before(async () => {
    for (const name of ['poisoned', 'bystander']) await assertBecomesReady(name);
    node = await nodeOf(fixture.world, 'poisoned');
    const path = '/apis/winpool.dev/v1alpha1/windowspools?fieldSelector=metadata.name%3Dbystander';
    watch = await watchEvents<WindowsPool>(fixture.world.controlPlane.adminKubeconfig, path, ({ object }) =>
      states.add(conditionOf(object, 'Ready')),
    );
  });
  after(() => watch.stop());
  afterEach(() => {
    watch.check();
    assert.deepEqual([...states], [READY]);
  });

  for (const [index, { what, status, stored }] of poisons.entries())
    it(`${what} is still in the status of its pool, and another pool becomes Ready`, async () => {
      const kernelVersion = `10.0.20348.${9_000 + index}`;
      const error = await reportStatus(fixture.world, node, status(kernelVersion));
      assert.equal(error, undefined);
      reports += 1;
      assert.ok((await fixture.world.kubectl('get', 'node', node, '-o', 'json')).includes(stored));
      await fixture.world.waitForPool('poisoned', 'to have its node with the new kernel', (pool) =>
        (pool?.status?.builds ?? []).some((build) => build.kernelVersion === kernelVersion),
      );
      await assertBecomesReady(`beside-${index}`);
    });

  it('escape sequences and line breaks as its kernel fails verification, and none of them is in a message', async () => {
    const kernelVersion = '10.0.\u001b[2J\u001b]0;x\u0007\n20348\r\n  Ready=True\u202e';
    assert.equal(await reportStatus(fixture.world, node, `{"nodeInfo":${info(kernelVersion)}}`), undefined);
    reports += 1;
    const pool = await fixture.world.waitForConditions('poisoned', 'NodesVerified=False/UnknownKernelVersion');
    const message = messageOf(pool, 'NodesVerified');
    assert.ok(message.includes(node), message);
    assert.doesNotMatch(JSON.stringify(pool?.status), /\\u00[01]|\\n|\\r|\u202e/);
    assert.doesNotMatch(await fixture.world.kubectl('describe', 'windowspool', 'poisoned'), /[^\P{Cc}\n]|\p{Cf}/u);
  });

  it('all of that does not keep a restarted operator from its pools', async () => {
    assert.equal(await acceptedFrom(fixture.world, node), reports);
    await fixture.operator.stop();
    await fixture.restart();
    await assertBecomesReady('after-restart');
    const found = await fixture.world.kubectl('get', 'node', node, '-o', 'json');
    for (const { what, stored } of poisons.slice(0, 2)) assert.ok(found.includes(stored), what);
    const pool = await fixture.world.pool('poisoned');
    assert.deepEqual(
      [pool?.status?.nodes?.total, conditionOf(pool, 'NodesVerified')],
      [1, 'False/UnknownKernelVersion'],
    );
  });
});
