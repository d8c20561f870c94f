/** Which tool terminates a node that the operator did not provision, if its labels show it. The operator does not terminate such nodes. Pure. */

import { instanceIdOf } from '../nodes/unwatchedNodes.ts';
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
  ['kubernetes.azure.com/agentpool', () => 'AKS: delete its machine from the node pool.'],
  [
    'cloud.google.com/gke-nodepool',
    () => 'GKE: recreate or delete its instance in the managed instance group of the node pool.',
  ],
  ['karpenter.sh/nodepool', ({ name }) => `Karpenter: kubectl delete node ${name}`],
  ['node.openshift.io/os_id', () => 'OpenShift: delete its Machine, or its entry in windows-instances.'],
];

/** How to terminate the node, up to the end of the sentence: `with kOps: kops delete instance NAME`. */
export function deletionHint(node: Known): string {
  const known = PROVISIONERS.find(([label]) => labelIn(node.labels, label) !== undefined);
  if (known) return `with ${known[1](node)}`;
  if (instanceIdOf(node) !== '') return `with EC2 Auto Scaling: ${terminationCommand(instanceNamed(node.name))}`;
  return `with its provisioner. If the Node object remains: kubectl delete node ${node.name}`;
}

/** The instance of a node in a shell: EC2 says which it is. A kubelet reports an instance ID that can be another node's. */
function instanceNamed(node: string): string {
  return `$(aws ec2 describe-instances --filters Name=private-dns-name,Values=${node} --query Reservations[].Instances[].InstanceId --output text)`;
}

/** The command that terminates an instance of a scaling group, which then launches another one. */
export function terminationCommand(instance: string): string {
  return `aws autoscaling terminate-instance-in-auto-scaling-group --no-should-decrement-desired-capacity --instance-id ${instance}`;
}
