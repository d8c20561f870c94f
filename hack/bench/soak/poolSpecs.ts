/** The pools of a soak test: of existing nodes, and with node groups. */
import { nodeRoleArn, subnetIds } from '../../../test/fakes/localaws/network.ts';
import { groupName } from '../nodeObject.ts';

/** By this label, pools of existing nodes select theirs. */
export const POOL_LABEL = 'eks.amazonaws.com/nodegroup';

/** The oldest that the local AWS has for the version of the cluster. Updates go to later ones. */
const FIRST_RELEASE = '1.36-2026.02.17';
export const LATER_RELEASES = ['1.36-2026.03.17', '1.36-2026.04.18'] as const;

/** The largest size of a node group. */
export const MOST_NODES = 4;

/** The name of a pool with a node group. Its group has the same name. */
export const groupPoolName = (index: number): string => `scaled-${index}`;

/** A pool that selects the existing nodes of a group of the BenchCluster. */
export function existingNodesPool(index: number, groups: number): object {
  const name = groupName(index, groups);
  return pool(name, { existingNodes: { selector: { matchLabels: { [POOL_LABEL]: name } } } });
}

/** A pool with a node group of instances of the local AWS. */
export function groupPool(name: string): object {
  return pool(name, {
    nodeGroup: {
      nodeRole: nodeRoleArn,
      subnets: subnetIds.map((id) => ({ id })),
      instanceTypes: ['m5.xlarge'],
      releaseVersion: FIRST_RELEASE,
      // Without a desired size, which would prevent the removal of nodes.
      scaling: { minSize: 2, maxSize: MOST_NODES },
    },
  });
}

function pool(name: string, spec: object): object {
  return {
    apiVersion: 'winpool.dev/v1alpha1',
    kind: 'WindowsPool',
    metadata: { name },
    spec: { windowsVersion: 'Windows2022', ...spec },
  };
}
