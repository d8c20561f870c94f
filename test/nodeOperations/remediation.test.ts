/** Nodes that fail for too long are replaced, but none if so many fail that the nodes are unlikely to be the cause. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { callsOf } from '../awsCalls.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { firstOf, instanceOf, type Node, withTerminatingNodes } from './terminatingNodesFixture.ts';

const POOL = 'healers';
const SIZE = 3;
const LONG_AGO = '2026-01-01T00:00:00Z';

describe('a pool with remediation', () => {
  // Not longer than a node needs to join here, so that failures are detected soon.
  const suite = withTerminatingNodes('--join-grace=4s');
  let node: Node;
  let others: readonly Node[];
  const cloud = () => suite.fixture.world.cloud;
  const name = () => node.metadata.name;
  const verifiedStatusOf = async (of: string) =>
    (await suite.node(of))?.status.conditions?.find(({ type }) => type === 'winpool.dev/Verified')?.status;
  /** Waits until a node fails, and backdates the failure. */
  const makeFailedLongAgo = async (of: string) => {
    await waitFor(async () => (await verifiedStatusOf(of)) === 'False', { what: `node ${of} to fail` });
    const condition = { type: 'winpool.dev/Verified', lastTransitionTime: LONG_AGO };
    const patch = JSON.stringify({ status: { conditions: [condition] } });
    await suite.fixture.world.kubectl('patch', 'node', of, '--subresource=status', '--type=strategic', '-p', patch);
  };
  const breakBuild = (of: string) => cloud().faults.patchKernel({ node: of, build: '10.0.17763' });
  const restoreBuild = (of: string) => cloud().faults.patchKernel({ node: of, build: '10.0.20348' });
  const isGone = (found: Node | undefined) => found?.metadata.uid !== node.metadata.uid;

  before(async () => {
    const spec = {
      nodeGroup: { scaling: { minSize: SIZE, maxSize: 5 } },
      remediation: { policy: 'Replace' as const, unhealthyAfter: '5m', maxUnhealthy: 1 },
    };
    await suite.fixture.world.apply(poolManifest(POOL, spec));
    await suite.settled(POOL, SIZE);
  });
  beforeEach(async () => {
    await suite.settled(POOL, SIZE);
    const all = await suite.nodes(POOL);
    node = firstOf(all);
    others = all.slice(1);
    cloud().resetCalls();
  });

  // First: the recorder drops events about an object that has had many, as this suite's pool has.
  it('replaces none while more than maxUnhealthy fail, reports that, and continues when fewer fail', async () => {
    const other = firstOf(others).metadata.name;
    for (const each of [name(), other]) breakBuild(each);
    await suite.becomes(POOL, 'RemediationAllowed', 'False/TooManyUnhealthy');
    for (const each of [name(), other]) await makeFailedLongAgo(each);
    await waitForThreePolls();
    assertNames(await suite.message(POOL, 'RemediationAllowed'), '2 nodes', 'remediation.maxUnhealthy (1)');
    await suite.eventSays('TooManyUnhealthy', 'remediation.maxUnhealthy (1)');
    assert.deepEqual(suite.terminations(), []);
    assert.ok((await suite.nodes(POOL)).every(({ spec }) => spec.unschedulable !== true));
    restoreBuild(other);
    await suite.waitForNode(name(), 'to go', isGone);
    await suite.settled(POOL, SIZE);
    assert.deepEqual(suite.terminations(), [instanceOf(node)]);
  });

  it('replaces a node that fails verification after spec.remediation.unhealthyAfter, not before', async () => {
    breakBuild(name());
    await waitFor(async () => (await verifiedStatusOf(name())) === 'False', { what: 'the node to fail' });
    assert.equal((await suite.node(name()))?.spec.unschedulable, undefined);
    await makeFailedLongAgo(name());
    await suite.waitForNode(name(), 'to go', isGone);
    await suite.settled(POOL, SIZE);
    assert.deepEqual(suite.terminations(), [instanceOf(node)]);
  });

  /** Waits for some more reconciles. */
  async function waitForThreePolls(): Promise<void> {
    const polls = () => callsOf(suite.fixture.world, 'DescribeNodegroup').length;
    const before = polls();
    await waitFor(() => polls() >= before + 3, { what: 'three more polls', timeoutMs: 20_000 });
  }
});
