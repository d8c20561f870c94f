/** The checks of a pool of Karpenter. Pure. */

import type { NodeRequirement } from '../../api/api.gen.ts';
import { OS_LABEL, POOL_KEY, WINDOWS } from '../../api/labels.ts';
import { type Answer, met, notMet, required, warning, warns } from '../../checks/check.ts';
import { enableIpam, IPAM_OFF, isIpamOn, PREFIX_KEY, parseBool, WINDOWS_IPAM } from '../../checks/windowsIpam.ts';
import type { ClusterCheck } from '../../membership/clusterChecks.ts';
import { kubernetesMinor, kubernetesSupport, yearOf } from '../../nodes/windowsVersions.ts';
import type { KarpenterObject } from '../../ports/karpenter.ts';
import type { Taint } from '../../ports/nodes.ts';
import { runtimeClassFor, untolerated } from '../../runtimeClass/runtimeClass.ts';
import { joined } from '../../util/words.ts';
import { recordIn } from './dueObject.ts';
import type { KarpenterState } from './karpenterState.ts';
import { nodeClassChecks } from './nodeClassChecks.ts';

/** How many NodePools the message names. */
const MOST = 3;

/** Only the EC2NodeClass waits, for its AMI and its script: Karpenter creates nodes in any case. */
export const karpenterChecks: readonly ClusterCheck<KarpenterState>[] = [
  { ...required('UnsupportedVersion', 'versions', 'the Kubernetes version'), evaluate: kubernetesVersion },
  { ...WINDOWS_IPAM, evaluate: windowsIpam },
  { ...warns('PrefixDelegationUnsupported', 'prefix-delegation', 'prefix delegation'), evaluate: prefixDelegation },
  ...nodeClassChecks,
  { ...warns('NodePoolsOverlap', 'other-nodepools', 'other NodePools'), evaluate: otherNodePools },
];

/** Whether pods get addresses. The operator does not call AWS for the pool, so it does not know who sets that. */
function windowsIpam({ cniConfig }: KarpenterState): Answer | undefined {
  if (!cniConfig?.ok) return undefined;
  return isIpamOn(cniConfig.value) ? met : notMet(`${IPAM_OFF} ${enableIpam('CLUSTER')}`);
}

/** Whether EKS publishes AMIs of the Windows version for the Kubernetes version. Karpenter checks that only for an alias. */
function kubernetesVersion({ pool, serverVersion }: KarpenterState): Answer | undefined {
  const minor = kubernetesMinor(serverVersion ?? '');
  const { windowsVersion } = pool.spec;
  const supported = minor === undefined ? undefined : kubernetesSupport(windowsVersion, minor);
  if (supported === undefined) return met;
  const found = `Kubernetes supports Windows Server ${yearOf(windowsVersion)} ${supported}, and the cluster has 1.${minor}`;
  return supported.startsWith('from')
    ? notMet(`${found}. Upgrade the cluster, or create a pool with another windowsVersion`)
    : warning(`${found}. Create a pool with a newer windowsVersion`);
}

/** Karpenter counts the addresses of an instance as without prefixes: https://github.com/aws/karpenter-provider-aws/issues/5478 */
function prefixDelegation({ cniConfig }: KarpenterState): Answer | undefined {
  if (!cniConfig?.ok) return undefined;
  if (parseBool(cniConfig.value?.[PREFIX_KEY]) !== true) return met;
  return warning(
    'Prefix delegation is enabled for Windows, and Karpenter does not know of the addresses that it adds, so it creates more nodes than pods need',
    'Set enable-windows-prefix-delegation: "false" in the vpc-cni add-on, or in ConfigMap kube-system/amazon-vpc-cni, if only pools of Karpenter run Windows',
  );
}

/** Whether Karpenter can create nodes for pods of the pool from a NodePool that is no pool: it chooses by weight, and otherwise any. */
function otherNodePools(s: KarpenterState): Answer | undefined {
  if (s.karpenter.kind !== 'seen') return undefined;
  const names = s.karpenter.others.filter((other) => !isOfPool(other) && takesPodsOf(s, other)).map(({ name }) => name);
  const [first] = names.sort();
  if (first === undefined) return met;
  const found = `Karpenter can also create nodes for pods of the pool from ${names.length === 1 ? 'NodePool' : 'NodePools'} ${joined(names, MOST)}, and the operator does not verify those nodes`;
  return warning(found, `Add a taint to it, or delete it: kubectl edit nodepool ${first}`);
}

function isOfPool({ createdFor, appliedAt }: KarpenterObject): boolean {
  return createdFor !== '' || appliedAt > 0;
}

/** Whether Karpenter creates nodes from it for pods that have the RuntimeClass of the pool and nothing else: https://karpenter.sh/docs/concepts/scheduling/ */
function takesPodsOf({ pool }: KarpenterState, { spec, deleting }: KarpenterObject): boolean {
  const { nodeSelector, tolerations } = runtimeClassFor(pool);
  const { metadata, spec: node } = recordIn(recordIn(spec).template);
  const [labels, { requirements, taints }] = [recordIn(recordIn(metadata).labels), recordIn(node)];
  const required = listIn<NodeRequirement>(requirements);
  const isWindows = required.some(({ key, values }) => key === OS_LABEL && values?.includes(WINDOWS));
  const repelling = listIn<Taint>(taints).filter(({ effect }) => effect !== 'PreferNoSchedule');
  if (deleting || !isWindows || untolerated(repelling, tolerations).length > 0) return false;
  return Object.entries(nodeSelector).every(([key, value]) => {
    if (labels[key] !== undefined) return labels[key] === value;
    const own = required.filter((requirement) => requirement.key === key);
    return own.length > 0 ? own.every((requirement) => allows(requirement, value)) : key !== POOL_KEY;
  });
}

/** The members are as the CRD of NodePools requires them. */
function listIn<T extends object>(value: unknown): readonly T[] {
  return Array.isArray(value) ? value.filter((item): item is T => typeof item === 'object' && item !== null) : [];
}

/** Whether a node can have this value of the label. Labels in selectors of pools have no numbers, which other operators compare. */
function allows({ operator, values = [] }: NodeRequirement, value: string): boolean {
  if (operator === 'In') return values.includes(value);
  if (operator === 'NotIn') return !values.includes(value);
  return operator === 'Exists';
}
