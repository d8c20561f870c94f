/** Permissions that the operator lacks for a while. */
import assert from 'node:assert/strict';
import type { V1ClusterRole } from '@kubernetes/client-node';
import type { Stored } from '../controllers/kubernetes/objects.ts';
import type { TestEnv } from './fakes/testenv/testEnv.ts';

/** Runs a function while the operator's ClusterRole lacks a resource, or only a verb for it. */
export async function withoutPermission(
  world: TestEnv,
  resource: string,
  verb: string | undefined,
  run: () => Promise<void>,
): Promise<void> {
  const name = 'windowspool-operator';
  const { rules = [] } = (await world.get<Stored<V1ClusterRole>>('clusterrole', name)) ?? assert.fail();
  const grant = (next: readonly object[]) =>
    world.kubectl('patch', 'clusterrole', name, '--type=merge', '-p', JSON.stringify({ rules: next }));
  const lessened = rules.map((rule) => {
    if (!rule.resources?.includes(resource)) return rule;
    if (verb !== undefined) return { ...rule, verbs: rule.verbs.filter((other) => other !== verb) };
    return { ...rule, resources: rule.resources.filter((other) => other !== resource) };
  });
  await grant(lessened.filter(({ resources }) => resources?.length !== 0));
  try {
    await run();
  } finally {
    await grant(rules);
  }
}
