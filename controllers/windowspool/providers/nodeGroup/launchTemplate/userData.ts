/** The user data of the nodes of a group with a custom AMI, which must join the cluster without help from EKS. Pure. */
import type { WindowsPool } from '../../../api/api.gen.ts';
import { NODE_GROUP_LABEL } from '../../../api/labels.ts';
import type { Cluster } from '../../../ports/eks.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import type { ScriptResult } from '../../../userData/scripts.ts';
import { hashOf } from '../../../util/hash.ts';
import { labelsFor, taintsFor } from '../desired/desiredNodeGroup.ts';
import { type Bootstrap, bootstrapUserData } from './bootstrap.ts';
import { userDataIn } from './groupScript.ts';
import { kubeletArguments, specifiedArguments } from './kubelet.ts';
import { isCustom } from './launchSettings.ts';

/** The labels that EKS puts on the nodes of other groups. Those of the launch template are missing: its version is not known yet. */
const IMAGE_LABEL = 'eks.amazonaws.com/nodegroup-image';
const CAPACITY_LABEL = 'eks.amazonaws.com/capacityType';

/** Which nodes of a pool get the user data: those of the group with this name, with this AMI, in this cluster. */
interface UserDataOf {
  readonly cluster: Cluster;
  readonly group: string;
  readonly imageId: string;
  /** The text of the script in the spec. */
  readonly script: string | undefined;
}

/** The user data of nodes of the pool. */
export function userDataOf(pool: WindowsPool, nodes: UserDataOf): ScriptResult {
  return bootstrapUserData({ ...bootstrapOf(pool, nodes), ...scriptsOf(pool, nodes.script) });
}

function bootstrapOf(pool: WindowsPool, { cluster, group, imageId }: UserDataOf): Bootstrap {
  const { name, endpoint, certificateAuthority, serviceCidr } = cluster;
  const labels = {
    ...labelsFor(pool),
    [NODE_GROUP_LABEL]: group,
    [IMAGE_LABEL]: imageId,
    [CAPACITY_LABEL]: nodeGroupIn(pool.spec).capacityType === 'Spot' ? 'SPOT' : 'ON_DEMAND',
  };
  return {
    cluster: { name, endpoint, certificateAuthority, ...(serviceCidr !== undefined && { serviceCidr }) },
    labels,
    taints: taintsFor(pool),
    kubeletArguments: kubeletArguments(pool.spec),
  };
}

/** The script of the spec, by its phase. */
function scriptsOf({ spec }: WindowsPool, script: string | undefined): Pick<Bootstrap, 'before' | 'after'> {
  if (script === undefined) return {};
  return userDataIn(spec)?.phase === 'AfterBootstrap' ? { after: script } : { before: script };
}

/**
 * What the spec contributes to the user data, as a hash; empty if EKS writes all of it. It stays the same when the cluster, the AMI, the operator or the
 * script change. Status records it: if the next version of the operator had another hash for the same spec, it would replace all nodes, whatever
 * `update.policy` is.
 */
export function userDataText(pool: WindowsPool): string {
  const { userData } = nodeGroupIn(pool.spec);
  if (!isCustom(pool.spec)) return userData ? hashOf({ userData }) : '';
  return hashOf({ labels: labelsFor(pool), taints: taintsFor(pool), kubelet: specifiedArguments(pool.spec), userData });
}
