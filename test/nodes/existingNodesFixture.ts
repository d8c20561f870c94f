/** Shared by the suites about existing nodes: nodes that were created outside the operator, and a watch of them. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { OWN_PREFIX } from '../../controllers/windowspool/api/labels.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { type ExistingNode, existingNode } from '../fakes/testenv/existingNode.ts';
import { type OperatorFixture, withOperator } from '../sharedWorld.ts';

/** Fields that Kubernetes' own controllers write on every node. */
const [TTL, FORMER_OS] = ['node.alpha.kubernetes.io/ttl', 'beta.kubernetes.io/os'];

/** Runs an operator, and deletes the nodes after each test. */
export function withExistingNodes() {
  const fixture: OperatorFixture = withOperator();
  const nodes: string[] = [];

  const node = async (name: string): Promise<Stored<V1Node>> =>
    (await fixture.world.get<Stored<V1Node>>('node', name)) ?? assert.fail(`there is no node ${name}`);
  /** Creates a node and waits until Kubernetes' own controllers have processed it. */
  const join = async (options: ExistingNode): Promise<void> => {
    nodes.push(options.name);
    await fixture.world.apply(existingNode(options));
    await waitFor(
      async () => {
        const { metadata, spec, status } = await node(options.name);
        const isReady = status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
        const isMarked = metadata.annotations?.[TTL] !== undefined && metadata.labels?.[FORMER_OS] !== undefined;
        return isReady && isMarked && !spec.taints?.some(({ key }) => key.startsWith('node.kubernetes.io/'));
      },
      { what: `node ${options.name} to be Ready`, timeoutMs: 20_000 },
    );
  };
  /** All fields of a node that a pool may write. */
  const writtenFields = async (name: string) => {
    const { metadata, spec, status } = await node(name);
    return {
      labels: metadata.labels,
      annotations: metadata.annotations,
      taints: spec.taints,
      isReported: status.conditions?.some(({ type }) => type.startsWith(OWN_PREFIX)),
    };
  };
  const waitForCondition = (pool: string, type: string, state: string) =>
    fixture.world.waitForConditions(pool, `${type}=${state}`);
  const waitForNodes = (pool: string, total: number) =>
    fixture.world.waitForPool(pool, `to have ${total} nodes`, (found) => found?.status?.nodes?.total === total);
  const waitUntilRestored = async (name: string, before: object): Promise<void> => {
    let now: object = {};
    const isBack = async () => {
      now = await writtenFields(name);
      return isDeepStrictEqual(now, before);
    };
    const explain = () => `${JSON.stringify(now)}\nis not\n${JSON.stringify(before)}`;
    await waitFor(isBack, { what: `node ${name} to be as it was`, timeoutMs: 20_000, explain });
  };

  afterEach(async () => {
    await fixture.world.kubectl('delete', 'windowspools', '--all', '--timeout=50s');
    if (nodes.length > 0) await fixture.world.kubectl('delete', 'nodes', ...new Set(nodes.splice(0)));
  });

  return {
    fixture,
    node,
    join,
    writtenFields,
    waitForCondition,
    waitForNodes,
    waitUntilRestored,
  };
}
