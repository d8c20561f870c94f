import { advises, met, notMet } from '../../../checks/check.ts';
import { joined } from '../../../util/words.ts';
import { selectedGroups } from '../launchTemplate/launchSettings.ts';
import { allowsTcp, cannotJoin, controlPlaneGroups } from '../launchTemplate/securityRules.ts';
import type { CheckInput } from '../model/checkFacts.ts';
import { resolvedTemplate, templateIn } from '../versions/userLaunchTemplate.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';

/** The port of the kubelet: https://kubernetes.io/docs/reference/networking/ports-and-protocols/ */
const KUBELET = 10_250;

/**
 * The security groups of the nodes; undefined while they are not known. EKS adds the cluster security group only if the template names none
 * (https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-security-groups). The operator adds it to those of the spec.
 */
function nodeSecurityGroups({
  spec,
  cluster: { securityGroup },
  facts,
}: Pick<CheckInput, 'spec' | 'cluster' | 'facts'>): readonly string[] | undefined {
  const own = securityGroup === undefined ? [] : [securityGroup];
  if (templateIn(spec)) {
    const template = resolvedTemplate(facts);
    return template && (template.securityGroups ?? own);
  }
  const selected = selectedGroups(spec, facts);
  return selected && [...new Set([...own, ...selected])];
}

/**
 * The control plane must reach the kubelets, or `kubectl logs`, `exec` and `port-forward` fail, while nodes and pods work
 * (https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html#security-group-restricting-cluster-traffic). A rule for addresses counts as open,
 * because the addresses of the control plane are not known.
 */
export const kubeletPort: NodeGroupCheck = {
  ...advises('KubeletPortClosed', 'kubelet-port'),
  needs: ['securityRules', 'securityGroups', 'launchTemplate'],
  evaluate(input) {
    const { cluster, region, facts } = input;
    const to = nodeSecurityGroups(input);
    if (!to) return undefined;
    const template = resolvedTemplate(facts);
    // A required check reports that.
    if (template && cannotJoin(template, cluster, facts)) return met;
    return given(facts, 'securityRules', (read) => {
      const found = [...read, ...(facts.securityGroups?.ok ? facts.securityGroups.value : [])];
      const from = controlPlaneGroups(cluster);
      const [source] = from;
      const [target] = to;
      // A group that was not found may have the rule.
      if (!source || !target || ![...from, ...to].every((id) => found.some((group) => group.id === id))) return met;
      const of = (ids: readonly string[]) => found.filter(({ id }) => ids.includes(id));
      const fails = 'so the API server cannot reach the kubelets: kubectl logs, exec and port-forward fail';
      if (!allowsTcp(of(to), 'inbound', KUBELET, from))
        return notMet(
          `No inbound rule of the nodes' ${named(to)} allows TCP port ${KUBELET} from the control plane (${joined(from)}), ${fails}`,
          `Add one: aws ec2 authorize-security-group-ingress --region ${region} --group-id ${target} --ip-permissions 'IpProtocol=tcp,FromPort=10250,ToPort=10250,UserIdGroupPairs=[{GroupId=${source}}]'`,
        );
      if (!allowsTcp(of(from), 'outbound', KUBELET, to))
        return notMet(
          `No outbound rule of the control plane's ${named(from)} allows TCP port ${KUBELET} to the nodes (${joined(to)}), ${fails}`,
          `Add one: aws ec2 authorize-security-group-egress --region ${region} --group-id ${source} --ip-permissions 'IpProtocol=tcp,FromPort=10250,ToPort=10250,UserIdGroupPairs=[{GroupId=${target}}]'`,
        );
      return met;
    });
  },
};

function named(ids: readonly string[]): string {
  return `security ${ids.length === 1 ? 'group' : 'groups'} ${joined(ids)}`;
}
