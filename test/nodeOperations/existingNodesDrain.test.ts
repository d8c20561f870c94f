/** Nodes that something else made, drained by annotation under a real PodDisruptionBudget, and never ended. */
import assert from 'node:assert/strict';
import { CORDONED_ANNOTATION, POOL_KEY, REPLACE_ANNOTATION } from '../../controllers/windowspool/labels.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, messageOf } from '../../hack/testenv/testEnv.ts';
import { withExistingNodes } from '../nodes/existingNodesFixture.ts';
import { existingPool } from '../pools.ts';

const NAMESPACE = 'byoh';
const SITE = { matchLabels: { site: 'fra' } };

describe('existing nodes that are to be replaced', () => {
  const { stage, node, join, becomes, holds } = withExistingNodes();
  const kubectl = (...words: string[]) => stage.world.kubectl(...words);
  const annotate = (name: string, value = `${REPLACE_ANNOTATION}=true`) =>
    kubectl('annotate', 'node', name, value, '--overwrite');
  const pods = (name: string) =>
    kubectl('-n', NAMESPACE, 'get', 'pods', `--field-selector=spec.nodeName=${name}`, '-o', 'name');
  const stateOf = async (name: string) => {
    const { metadata, spec } = await node(name);
    const { unschedulable } = spec as { unschedulable?: boolean };
    const { [CORDONED_ANNOTATION]: by, [REPLACE_ANNOTATION]: asked } = metadata.annotations ?? {};
    return `${unschedulable ? 'cordoned' : 'open'} ${by ?? '-'} ${asked ?? '-'}`;
  };
  const becomesState = (name: string, wanted: string) => {
    let now = '';
    const isSo = async () => {
      now = await stateOf(name);
      return now === wanted;
    };
    return waitFor(isSo, { what: `node ${name} to be ${wanted}`, timeoutMs: 30_000, explain: () => `it is ${now}` });
  };
  const leaving = (pool: string, reason: string) =>
    stage.world.waitForPool(pool, `to say ${reason}`, (found) => conditionOf(found, 'NodesLeaving') === reason, 40_000);
  const deployment = (replicas: number) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: NAMESPACE, name: 'cart' },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'cart' } },
      template: {
        metadata: { labels: { app: 'cart' } },
        spec: {
          nodeSelector: { site: 'fra', 'kubernetes.io/os': 'windows' },
          tolerations: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }],
          containers: [{ name: 'cart', image: 'cart' }],
        },
      },
    },
  });
  const budget = (minAvailable: number) => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: NAMESPACE, name: 'cart' },
    spec: { minAvailable, selector: { matchLabels: { app: 'cart' } } },
  });
  const available = (replicas: number) =>
    kubectl(
      '-n',
      NAMESPACE,
      'wait',
      'deployment/cart',
      `--for=jsonpath={.status.availableReplicas}=${replicas}`,
      '--timeout=30s',
    );
  /** Two nodes of a pool, with a pod on the first. */
  const settle = async (pool: string, spec: object = {}) => {
    await join({ name: `${pool}-1`, labels: { site: 'fra' } });
    await stage.world.apply(existingPool(pool, SITE, { ...spec }));
    await becomes(pool, 'Ready', 'True/Verified');
    await stage.world.apply(deployment(1));
    await available(1);
    await join({ name: `${pool}-2`, labels: { site: 'fra' } });
    await holds(pool, 2);
    stage.world.cloud.resetCalls();
  };

  before(() => stage.world.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }));
  after(async () => {
    // Where a node is gone nobody confirms that its pods have ended, and the namespace would wait for them.
    await stage.world?.kubectl(
      '-n',
      NAMESPACE,
      'delete',
      'deployments',
      '--all',
      '--cascade=foreground',
      '--wait=false',
    );
    await stage.world?.kubectl('-n', NAMESPACE, 'delete', 'pods', '--all', '--force', '--grace-period=0');
    await stage.world?.kubectl('delete', 'namespace', NAMESPACE, '--ignore-not-found', '--timeout=60s');
  });
  beforeEach(async () => {
    await kubectl('-n', NAMESPACE, 'delete', 'deployments,poddisruptionbudgets', '--all', '--wait=true');
  });

  it('wait for a PodDisruptionBudget, are emptied when it lets go, and stay; AWS is asked nothing', async () => {
    await settle('held', { disruption: { drain: { timeout: '10m' } }, remediation: {} });
    await stage.world.apply(budget(1));
    await annotate('held-1');
    const blocked = await leaving('held', 'True/DrainBlocked');
    assert.match(
      messageOf(blocked, 'NodesLeaving'),
      /^node held-1 is to be replaced, and 1 pod must leave it first: pod byoh\/cart-\S+ is kept by PodDisruptionBudget cart\. /i,
    );
    await annotate('held-2');
    await stage.world.apply(budget(0));
    const words =
      'node held-1 is drained: end it with what made it, and delete the node if that does not: kubectl delete node held-1. held-2 waits for a turn: no more than 1 node may be out at a time.';
    const drained = await stage.world.waitForPool(
      'held',
      `to say ${words}`,
      (found) => messageOf(found, 'NodesLeaving') === words,
      40_000,
    );
    assert.equal(conditionOf(drained, 'NodesLeaving'), 'True/Drained');
    assert.deepEqual(
      [await stateOf('held-1'), await stateOf('held-2'), await pods('held-1')],
      ['cordoned by-operator true', 'open - true', ''],
    );
    assert.ok(drained?.status?.disruption?.nodes?.[0]?.drained);
    await waitFor(
      async () =>
        (
          await kubectl(
            'get',
            'events.events.k8s.io',
            '-A',
            '--field-selector=reason=NodeDrained',
            '-o',
            'jsonpath={.items[*].note}',
          )
        ).includes('node held-1 is drained'),
      { what: 'the event NodeDrained', timeoutMs: 10_000 },
    );
    // It comes back as another node, which may take what the next one had.
    await kubectl('delete', 'node', 'held-1');
    await join({ name: 'held-1', labels: { site: 'fra' } });
    await becomesState('held-2', 'cordoned by-operator true');
    await leaving('held', 'True/Drained');
    assert.deepEqual([await stateOf('held-1'), await pods('held-2')], ['open - -', '']);
    assert.deepEqual(stage.world.cloud.calls(), []);
  });

  it('take pods again when the annotation goes, also once they are empty', async () => {
    await settle('undone');
    for (const [pods, reason] of [
      [1, 'True/DrainBlocked'],
      [0, 'True/Drained'],
    ] as const) {
      await stage.world.apply(budget(pods));
      await annotate('undone-1');
      await leaving('undone', reason);
      await annotate('undone-1', `${REPLACE_ANNOTATION}-`);
      await becomesState('undone-1', 'open - -');
      const pool = await leaving('undone', 'absent');
      assert.equal(pool?.status?.disruption, undefined);
    }
  });

  it('are drained by the one pool of two that has them, and belong to it still when the operator starts again', async () => {
    await settle('first');
    await stage.world.apply(existingPool('second', { matchExpressions: [{ key: 'site', operator: 'Exists' }] }));
    await becomes('second', 'NodesFound', 'False/ClaimedByAnother');
    await stage.world.apply(budget(1));
    await annotate('first-1');
    await leaving('first', 'True/DrainBlocked');
    await stage.operator.stop();
    await stage.restart();
    await stage.world.apply(budget(0));
    await leaving('first', 'True/Drained');
    assert.equal(conditionOf(await stage.world.pool('second'), 'NodesLeaving'), 'absent');
    assert.equal((await node('first-1')).metadata.labels?.[POOL_KEY], 'first');
  });

  it('get back what they had without the cordon when their pool goes', async () => {
    await settle('gone');
    await annotate('gone-1');
    await leaving('gone', 'True/Drained');
    await kubectl('delete', 'windowspool', 'gone', '--timeout=30s');
    assert.equal(await stateOf('gone-1'), 'open - true');
    assert.equal((await node('gone-1')).metadata.labels?.[POOL_KEY], undefined);
  });
});
