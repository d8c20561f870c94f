/** Which tool terminates a node that the operator did not provision, as far as its labels show. The operator terminates none of them. Pure. */

import { instanceIdOf } from '../nodes/lostNodes.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { labelIn } from '../util/labelSelector.ts';

type Known = Pick<NodeRecord, 'name' | 'labels' | 'providerID'>;

/**
 * Labels that identify the provisioner of a node, and how each terminates one:
 * - https://kops.sigs.k8s.io/cli/kops_delete_instance/
 * - https://learn.microsoft.com/en-us/rest/api/aks/agent-pools/delete-machines
 * - https://cloud.google.com/sdk/gcloud/reference/compute/instance-groups/managed/recreate-instances
 * - https://karpenter.sh/docs/concepts/disruption/#manual-methods
 * - https://docs.redhat.com/en/documentation/openshift_container_platform/latest/html/machine_management/deleting-machine
 */
const PROVISIONERS: readonly (readonly [label: string, how: (node: Known) => string])[] = [
  ['kops.k8s.io/instancegroup', ({ name }) => `kOps: kops delete instance ${name}`],
  ['kubernetes.azure.com/agentpool', () => 'AKS: delete its machine from the node pool'],
  [
    'cloud.google.com/gke-nodepool',
    () => 'GKE: recreate or delete its instance in the managed instance group of the node pool',
  ],
  ['karpenter.sh/nodepool', ({ name }) => `Karpenter: kubectl delete node ${name}`],
  ['node.openshift.io/os_id', () => 'OpenShift: delete its Machine, or its entry in windows-instances'],
];

/** How to terminate the node: `with kOps: kops delete instance NAME`. */
export function deletionHint(node: Known): string {
  const known = PROVISIONERS.find(([label]) => labelIn(node.labels, label) !== undefined);
  if (known) return `with ${known[1](node)}`;
  const instance = instanceIdOf(node);
  if (node.providerID.startsWith('aws:') && instance.startsWith('i-'))
    return `with EC2 Auto Scaling: aws autoscaling terminate-instance-in-auto-scaling-group --instance-id ${instance} --no-should-decrement-desired-capacity`;
  return `with what made it, and delete the node if that does not: kubectl delete node ${node.name}`;
}
