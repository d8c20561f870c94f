/** What the suites of pools of machines share. */
import { fileURLToPath } from 'node:url';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { INFRASTRUCTURE_GROUP } from '../fakes/clusterApi/crds.ts';
import { CLUSTER_API, INFRASTRUCTURE } from '../fakes/clusterApi/objectClient.ts';
import { machineDeployment, machineTemplate } from '../fakes/clusterApi/objects.ts';
import { conditionOf } from '../fakes/testenv/testEnv.ts';
import { machinesPool } from '../pools.ts';
import type { OperatorFixture } from '../sharedWorld.ts';

type World = Pick<OperatorFixture, 'world'>;

const ROLE_FILES = ['machines', 'machine-templates'].flatMap((folder) =>
  ['role.yaml', 'role_binding.yaml'].map((file) =>
    fileURLToPath(new URL(`../../config/${folder}/${file}`, import.meta.url)),
  ),
);

/** Creates or deletes the roles of config/machines and config/machine-templates, and their bindings. */
export async function changeRole({ world }: World, change: 'apply' | 'delete'): Promise<void> {
  for (const file of ROLE_FILES) await world.kubectl(change, '-f', file);
}

const TEMPLATES = 'sim-machine-templates';

/** The role for infrastructure templates that docs/how-to/cluster-api.md asks users for, and its binding. */
const templatesRole = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: TEMPLATES },
    rules: [
      { apiGroups: [INFRASTRUCTURE_GROUP], resources: ['simmachinetemplates'], verbs: ['create', 'list', 'delete'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: TEMPLATES },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: TEMPLATES },
    subjects: [{ kind: 'ServiceAccount', name: 'windowspool-operator', namespace: 'winpool-system' }],
  },
];

/** Creates or deletes that role. */
export async function changeTemplatesRole({ world }: World, change: 'apply' | 'delete'): Promise<void> {
  for (const object of templatesRole)
    if (change === 'apply') await world.apply(object);
    else await world.kubectl('delete', object.kind, object.metadata.name);
}

/** A pool with machines.template. `more`: more fields of the template. */
export function templatePool(name: string, kind: string, spec: object, more: object = {}, machines: object = {}) {
  const metadata = { namespace: 'default', name };
  const template = { apiVersion: CLUSTER_API, kind, metadata, spec, ...more };
  return machinesPool(name, {}, { machines: { desiredSize: 2, ...machines, template } });
}

/** A pool whose MachineDeployment, with an image of this build, is rolled out automatically. `more`: more fields of its spec. */
export function deploymentPool(name: string, windowsBuild: string, desiredSize = 1, more: object = {}) {
  const { spec: sim } = machineTemplate('x', { windowsBuild });
  const infrastructureTemplate = { apiVersion: INFRASTRUCTURE, kind: 'SimMachineTemplate', spec: sim };
  const spec = { ...specOf(machineDeployment(name, { cluster: 'here' })), ...more };
  const update = { policy: 'Automatic' };
  return templatePool(name, 'MachineDeployment', spec, { infrastructureTemplate }, { update, desiredSize });
}

/** The spec of an object without its number of replicas. */
export function specOf({ spec: { replicas: _, ...spec } }: { readonly spec: { readonly replicas?: unknown } }): object {
  return spec;
}

/** Waits until the pool has this many verified nodes, and no node that leaves. */
export function settled({ world }: OperatorFixture, name: string, size: number): Promise<WindowsPool | undefined> {
  return world.waitForPool(
    name,
    `to have ${size} verified nodes and no node that leaves`,
    (pool) =>
      pool?.status?.nodes?.verified === size &&
      pool.status.summary?.nodes === `${size}/${size}` &&
      pool.status.disruption === undefined &&
      conditionOf(pool, 'MachinesReady') === 'True/MachinesReady',
  );
}

/** The names of Machines. */
export function namesOf(machines: readonly { readonly metadata: { readonly name: string } }[]): string[] {
  return machines.map(({ metadata }) => metadata.name);
}
