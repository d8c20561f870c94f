/** What steps write to. */
import type { WindowsPool, WindowsPoolStatus } from '../api/api.gen.ts';
import type { CallResult } from '../ports/callResult.ts';
import type { Instances, ScalingGroups } from '../ports/ec2.ts';
import type { NodeGroups } from '../ports/eks.ts';
import type { NodePools } from '../ports/karpenter.ts';
import type { MachineSets } from '../ports/machines.ts';
import type { NodePods } from '../ports/nodePods.ts';
import type { Nodes } from '../ports/nodes.ts';
import type { OwnMachineSets } from '../ports/ownMachineSets.ts';
import type { OwnTemplates } from '../ports/ownTemplates.ts';
import type { Drains } from '../ports/pods.ts';
import type { Pools } from '../ports/pools.ts';
import type { AccessEntries, Addons, SystemObjects } from '../ports/prerequisites.ts';
import type { RuntimeClasses } from '../ports/runtimeClasses.ts';

/** The ports that steps write through. */
export interface Writers {
  readonly pools: Pools;
  readonly nodeGroups: NodeGroups;
  readonly scalingGroups: ScalingGroups;
  readonly accessEntries: AccessEntries;
  readonly ownTemplates: OwnTemplates;
  readonly addons: Addons;
  readonly system: SystemObjects;
  readonly runtimeClasses: RuntimeClasses;
  readonly nodes: Nodes;
  readonly nodePools: NodePools;
  readonly machineSets: MachineSets;
  readonly ownMachineSets: OwnMachineSets;
  readonly nodePods: NodePods;
  readonly instances: Instances;
  readonly drains: Drains;
  readonly budget: {
    /** Writes a status that reserves a share of the disruption budget; error `conflict` if no share is left. */
    reserve(pool: WindowsPool, status: WindowsPoolStatus, signal: AbortSignal): Promise<CallResult<WindowsPool>>;
  };
}
