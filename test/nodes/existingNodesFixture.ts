/** What the suites about existing nodes share: nodes that were created outside the operator, and a watch of them. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { VERIFIED_CONDITION } from '../../controllers/windowspool/labels.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { type ExistingNode, existingNode } from '../../hack/testenv/existingNode.ts';
import { conditionOf } from '../../hack/testenv/testEnv.ts';
import { type OperatorFixture, withOperator } from '../sharedWorld.ts';

/** What Kubernetes' own controllers write of every node. */
const [TTL, FORMER_OS] = ['node.alpha.kubernetes.io/ttl', 'beta.kubernetes.io/os'];

/** An operator, and nodes that end with each test. */
export function withExistingNodes() {
  const stage: OperatorFixture = withOperator();
  const nodes: string[] = [];

  const node = async (name: string): Promise<Stored<V1Node>> =>
    (await stage.world.get<Stored<V1Node>>('node', name)) ?? assert.fail(`there is no node ${name}`);
  /** Makes a node and waits until Kubernetes' own controllers have done with it. */
  const join = async (wanted: ExistingNode): Promise<void> => {
    nodes.push(wanted.name);
    await stage.world.apply(existingNode(wanted));
    await waitFor(
      async () => {
        const { metadata, spec, status } = await node(wanted.name);
        const isReady = status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
        const isMarked = metadata.annotations?.[TTL] !== undefined && metadata.labels?.[FORMER_OS] !== undefined;
        return isReady && isMarked && !spec.taints?.some(({ key }) => key.startsWith('node.kubernetes.io/'));
      },
      { what: `node ${wanted.name} to be Ready`, timeoutMs: 20_000 },
    );
  };
  /** All that a pool may write of a node. */
  const belongings = async (name: string) => {
    const { metadata, spec, status } = await node(name);
    return {
      labels: metadata.labels,
      annotations: metadata.annotations,
      taints: spec.taints,
      reported: status.conditions?.some(({ type }) => type === VERIFIED_CONDITION),
    };
  };
  const becomes = (pool: string, type: string, state: string) =>
    stage.world.waitForPool(pool, `to have ${type}=${state}`, (found) => conditionOf(found, type) === state);
  const holds = (pool: string, total: number) =>
    stage.world.waitForPool(pool, `to have ${total} nodes`, (found) => found?.status?.nodes?.total === total);
  const returns = async (name: string, before: object): Promise<void> => {
    let now: object = {};
    const isBack = async () => {
      now = await belongings(name);
      return isDeepStrictEqual(now, before);
    };
    const explain = () => `${JSON.stringify(now)}\nis not\n${JSON.stringify(before)}`;
    await waitFor(isBack, { what: `node ${name} to be as it was`, timeoutMs: 20_000, explain });
  };

  afterEach(async () => {
    await stage.world.kubectl('delete', 'windowspools', '--all', '--timeout=50s');
    if (nodes.length > 0) await stage.world.kubectl('delete', 'nodes', ...new Set(nodes.splice(0)));
  });

  return { stage, node, join, belongings, becomes, holds, returns };
}
