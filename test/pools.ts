/** Pools for the cluster suites: valid against the local AWS; a test passes only what differs. */
import { nodeRoleArn, subnetIds } from './fakes/localaws/network.ts';
import { hasConditions, READY, type TestEnv, UP_TO_DATE } from './fakes/testenv/testEnv.ts';

type Fields = Record<string, unknown>;

/** A manifest as a user writes it, without fields that have a default. */
export function poolManifest(name: string, spec: Fields & { nodeGroup?: Fields & { scaling?: Fields } } = {}): object {
  const { nodeGroup: { scaling, ...nodeGroup } = {}, ...rest } = spec;
  return {
    apiVersion: 'winpool.dev/v1alpha1',
    kind: 'WindowsPool',
    metadata: { name },
    spec: {
      windowsVersion: 'Windows2022',
      nodeGroup: {
        nodeRole: nodeRoleArn,
        subnets: [{ id: subnetIds[0] }, { id: subnetIds[1] }],
        ...nodeGroup,
        scaling: { minSize: 1, maxSize: 3, ...scaling },
      },
      ...rest,
    },
  };
}

/** Waits until the node group has that version of its launch template, and nothing is left to do. */
export async function settledAtVersion(world: TestEnv, name: string, version: string): Promise<void> {
  await world.waitForPool(
    name,
    `to have version ${version} of its template and be settled`,
    (pool) =>
      pool?.status?.nodeGroup?.launchTemplate?.version === version &&
      pool.status.nodeGroup.update?.status !== 'InProgress' &&
      hasConditions(pool, READY, UP_TO_DATE),
  );
}

/** A manifest of a pool of the Machines of MachineDeployment clusters/windows, with changes of the reference. */
export function machinesPool(name: string, change: Fields = {}, spec: Fields = {}): object {
  const ref = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    namespace: 'clusters',
    name: 'windows',
  };
  return {
    apiVersion: 'winpool.dev/v1alpha1',
    kind: 'WindowsPool',
    metadata: { name },
    spec: { windowsVersion: 'Windows2022', machines: { ref: { ...ref, ...change } }, ...spec },
  };
}

/** A manifest of a pool of Karpenter with a node class of the user, with changes of spec.karpenter. */
export function karpenterPool(name: string, change: Fields = {}, spec: Fields = {}): object {
  const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'windows' };
  return {
    apiVersion: 'winpool.dev/v1alpha1',
    kind: 'WindowsPool',
    metadata: { name },
    spec: { windowsVersion: 'Windows2022', karpenter: { nodeClassRef, ...change }, ...spec },
  };
}

/** A manifest of a pool of existing nodes. */
export function existingPool(name: string, selector: Fields, spec: Fields = {}): object {
  return {
    apiVersion: 'winpool.dev/v1alpha1',
    kind: 'WindowsPool',
    metadata: { name },
    spec: { windowsVersion: 'Windows2022', existingNodes: { selector }, ...spec },
  };
}
