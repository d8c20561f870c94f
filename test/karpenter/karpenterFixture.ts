/** What the suites of Karpenter share. */
import { fileURLToPath } from 'node:url';
import type { KarpenterSpec } from '../../controllers/windowspool/api/api.gen.ts';
import { NODE_CLASS } from '../fakes/karpenter/karpenter.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { karpenterPool } from '../pools.ts';

const ROLE_FILES = ['role.yaml', 'role_binding.yaml'].map((file) =>
  fileURLToPath(new URL(`../../config/karpenter/${file}`, import.meta.url)),
);

/** Creates or deletes the role of config/karpenter and its binding. */
export async function changeRole(world: TestEnv, change: 'apply' | 'delete'): Promise<void> {
  for (const file of ROLE_FILES) await world.kubectl(change, '-f', file);
}

/** A pool of nodes of the simulated provider, with a RuntimeClass of its own. */
export function onDemandPool(name: string, spec: object = {}, source: Partial<KarpenterSpec> = {}): object {
  return karpenterPool(name, { nodeClassRef: NODE_CLASS, ...source }, { runtimeClass: { name }, ...spec });
}

/** A Deployment whose pods need a node each of the pool with its name. */
export function deployment(name: string, replicas: number): object {
  const labels = { app: name };
  const podAntiAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' },
    ],
  };
  const containers = [{ name: 'web', image: 'registry.example/web', resources: { requests: { cpu: '1' } } }];
  const spec = { runtimeClassName: name, affinity: { podAntiAffinity }, containers };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}
