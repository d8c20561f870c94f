/** Existing nodes that are drained by annotation with a real PodDisruptionBudget, and never terminated. */
import assert from 'node:assert/strict';
import { CORDONED_ANNOTATION, REPLACE_ANNOTATION } from '../../controllers/windowspool/api/labels.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames, namesAll } from '../messages.ts';
import { withExistingNodes } from '../nodes/existingNodesFixture.ts';
import { existingPool } from '../pools.ts';
import { budget, deployment, namespaceCalled } from '../userObjects.ts';

const NAMESPACE = 'byoh';
const SITE = { matchLabels: { site: 'fra' } };

describe('existing nodes with the replace annotation', () => {
  const { fixture, node, join, waitForCondition, waitForNodes } = withExistingNodes();
  const kubectl = (...words: string[]) => fixture.world.kubectl(...words);
  const annotate = (name: string, value = `${REPLACE_ANNOTATION}=true`) =>
    kubectl('annotate', 'node', name, value, '--overwrite');
  const pods = (name: string) =>
    kubectl('-n', NAMESPACE, 'get', 'pods', `--field-selector=spec.nodeName=${name}`, '-o', 'name');
  const stateOf = async (name: string) => {
    const { metadata, spec } = await node(name);
    const { unschedulable } = spec as { unschedulable?: boolean };
    const { [CORDONED_ANNOTATION]: by, [REPLACE_ANNOTATION]: replace } = metadata.annotations ?? {};
    return `${unschedulable ? 'cordoned' : 'open'} ${by ?? '-'} ${replace ?? '-'}`;
  };
  const waitForState = (name: string, state: string) => {
    let now = '';
    const isInState = async () => {
      now = await stateOf(name);
      return now === state;
    };
    return waitFor(isInState, {
      what: `node ${name} to be ${state}`,
      timeoutMs: 30_000,
      explain: () => `it is ${now}`,
    });
  };
  const leaving = (pool: string, reason: string) =>
    fixture.world.waitForPool(pool, `to say ${reason}`, (found) => conditionOf(found, 'Disrupting') === reason, 40_000);
  const cart = {
    nodeSelector: { site: 'fra', 'kubernetes.io/os': 'windows' },
    tolerations: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }],
    containers: [{ name: 'cart', image: 'cart' }],
  };
  /** Two nodes of a pool, with a pod on the first. */
  const settle = async (pool: string, spec: object = {}) => {
    await join({ name: `${pool}-1`, labels: { site: 'fra' } });
    await fixture.world.apply(existingPool(pool, SITE, { ...spec }));
    await waitForCondition(pool, 'Ready', 'True/EnoughNodesVerified');
    await fixture.world.apply(deployment(NAMESPACE, 'cart', 1, cart));
    await kubectl('-n', NAMESPACE, 'wait', 'deployment/cart', '--for=jsonpath={.status.availableReplicas}=1');
    await join({ name: `${pool}-2`, labels: { site: 'fra' } });
    await waitForNodes(pool, 2);
    fixture.world.cloud.resetCalls();
  };

  before(() => fixture.world.apply(namespaceCalled(NAMESPACE)));
  after(async () => {
    // When a node is gone, nobody confirms the termination of its pods, and the namespace would wait for them.
    const deployments = ['-n', NAMESPACE, 'deployments', '--all', '--cascade=foreground'];
    await fixture.world?.kubectl('delete', ...deployments, '--wait=false');
    await fixture.world?.kubectl('-n', NAMESPACE, 'delete', 'pods', '--all', '--force', '--grace-period=0');
    await fixture.world?.kubectl('delete', 'namespace', NAMESPACE, '--ignore-not-found', '--timeout=60s');
  });
  beforeEach(async () => {
    await kubectl('-n', NAMESPACE, 'delete', 'deployments,poddisruptionbudgets', '--all', '--wait=true');
  });

  it('wait for a PodDisruptionBudget, are drained when it is deleted, and stay, without AWS calls', async () => {
    await settle('held', { disruption: { drain: { timeout: '10m' } }, remediation: {} });
    await fixture.world.apply(budget(NAMESPACE, 'cart', { minAvailable: 1 }));
    await annotate('held-1');
    const blocked = await leaving('held', 'True/DrainBlocked');
    assertNames(messageOf(blocked, 'Disrupting'), 'held-1', /\bbyoh\/cart-\S+ /, 'PodDisruptionBudget cart (0');
    await annotate('held-2');
    await fixture.world.apply(budget(NAMESPACE, 'cart', { minAvailable: 0 }));
    const drained = await fixture.world.waitForPool(
      'held',
      'to have drained held-1, for which held-2 waits',
      (found) =>
        conditionOf(found, 'Disrupting') === 'True/Drained' &&
        namesAll(messageOf(found, 'Disrupting'), 'Node held-2', 'Node held-1', 'kubectl delete node held-1'),
      40_000,
    );
    assert.equal(conditionOf(drained, 'Disrupting'), 'True/Drained');
    assert.deepEqual(
      [await stateOf('held-1'), await stateOf('held-2'), await pods('held-1')],
      ['cordoned by-operator true', 'open - true', ''],
    );
    assert.ok(drained?.status?.disruption?.nodes?.[0]?.drainedTime);
    await fixture.until('the event NodeDrained', async () =>
      (await fixture.world.notesOf('NodeDrained')).some((note) => note.includes('Node held-1 is drained')),
    );
    // It comes back as another node, which may get the pods of the next one.
    await kubectl('delete', 'node', 'held-1');
    await join({ name: 'held-1', labels: { site: 'fra' } });
    await waitForState('held-2', 'cordoned by-operator true');
    await leaving('held', 'True/Drained');
    assert.deepEqual([await stateOf('held-1'), await pods('held-2')], ['open - -', '']);
    assert.deepEqual(fixture.world.cloud.calls(), []);
  });
});
