/** The checks of a pool whose EC2NodeClass the operator creates. What the operator may not read is not checked. Pure. */

import type { NodeClassSpec } from '../../api/api.gen.ts';
import { type Answer, advises, met, notMet, required, warning, warns } from '../../checks/check.ts';
import { INSTANCE_TYPE_CHECK, instanceTypeFault } from '../../checks/instanceTypes.ts';
import { IP_FAMILY, ipFamilyAnswer } from '../../checks/ipFamily.ts';
import {
  entryCreation,
  entryDeletion,
  NODE_ACCESS,
  NODE_GROUPS,
  WINDOWS_ENTRY,
  wrongEntry,
} from '../../checks/nodeAccess.ts';
import type { ClusterCheck } from '../../membership/clusterChecks.ts';
import { roleArnOf, sameRole } from '../../nodes/nodeRole.ts';
import type { Cluster } from '../../ports/eks.ts';
import type { ScriptSource } from '../../ports/prerequisites.ts';
import { karpenterIn } from '../../rules/nodeSource.ts';
import {
  contentAnswer,
  existsAnswer,
  restartAnswer,
  secretsAnswer,
  syntaxAnswer,
} from '../../userData/scriptAnswers.ts';
import type { UserScript } from '../../userData/userScript.ts';
import { describeFailure, joined } from '../../util/words.ts';
import type { KarpenterState, NodeClassFacts } from './karpenterState.ts';
import { amiOf, instanceTypesIn, parameterIn, scriptOf } from './nodeClassFacts.ts';

/** Of the user's script, as for node groups. */
const scriptChecks: readonly ClusterCheck<KarpenterState>[] = [
  {
    ...required('UserDataNotFound', 'user-data', 'the script of karpenter.nodeClass.userData'),
    evaluate: (s) => ofScript(s, existsAnswer),
  },
  {
    ...required('UserDataInvalid', 'user-data-script', 'the content of that script'),
    evaluate: (s) => ofScript(s, (script, source) => (source.text === undefined ? met : contentAnswer(script, source))),
  },
  {
    ...warns('UserDataSyntaxError', 'user-data-syntax', 'the syntax of that script'),
    evaluate: (s) => ofScript(s, syntaxAnswer),
  },
  {
    ...warns('UserDataRestarts', 'user-data-restart', 'restarts in that script'),
    evaluate: (s) => ofScript(s, (script, source) => restartAnswer(script, source, 'karpenter.nodeClass.ami')),
  },
  { ...advises('SecretInUserData', 'secrets-in-user-data'), evaluate: (s) => ofScript(s, secretsAnswer) },
];

/** Undefined if there is no script, or it could not be read. */
function ofScript(
  { pool, nodeClassFacts }: KarpenterState,
  evaluate: (script: UserScript, source: ScriptSource) => Answer | undefined,
): Answer | undefined {
  const { nodeClass } = karpenterIn(pool.spec);
  const [script, source] = [nodeClass && scriptOf(nodeClass), nodeClassFacts?.script];
  return script && source?.ok ? evaluate(script, source.value) : undefined;
}

/** The checks, in the order of those of node groups. */
export const nodeClassChecks: readonly ClusterCheck<KarpenterState>[] = [
  { ...IP_FAMILY, evaluate: ofCluster(({ cluster }) => ipFamilyAnswer(cluster)) },
  { ...NODE_ACCESS, explains: ['NotReady', 'NodesMissing'], evaluate: ofCluster(nodeAccess) },
  { ...warns('ServiceCIDRNotPassed', 'service-cidr', 'the Service CIDR'), evaluate: ofCluster(serviceCidr) },
  ...scriptChecks,
  { ...required('AMIInvalid', 'custom-ami', 'the AMI'), evaluate: ami },
  { ...INSTANCE_TYPE_CHECK, evaluate: instanceTypes },
];

interface Input {
  readonly nodeClass: NodeClassSpec;
  readonly cluster: Cluster;
  readonly facts: NodeClassFacts;
}

/** Undefined if the pool has no node class of its own, or the cluster is not known. */
function ofCluster(evaluate: (input: Input) => Answer | undefined) {
  return ({ pool, nodeClassFacts: facts }: KarpenterState): Answer | undefined => {
    const { nodeClass } = karpenterIn(pool.spec);
    const cluster = facts?.cluster?.ok ? facts.cluster.value : undefined;
    return nodeClass && facts && cluster ? evaluate({ nodeClass, cluster, facts }) : undefined;
  };
}

/** Whether the nodes can join and run pods: Karpenter gives the role no access. */
function nodeAccess({ nodeClass: { role }, cluster, facts: { accessEntry, roleMappings } }: Input): Answer | undefined {
  const arn = roleArnOf(role, cluster);
  if (accessEntry && !accessEntry.ok) return undefined;
  const type = accessEntry?.value?.type;
  if (type === WINDOWS_ENTRY) return met;
  const creation = entryCreation(arn, cluster.name);
  if (type !== undefined)
    return notMet(
      wrongEntry(role, type),
      `If Linux nodes use the role, set karpenter.nodeClass.role to another one. Otherwise, replace the entry: ${entryDeletion(arn, cluster.name)} && ${creation}`,
    );
  if (roleMappings && !roleMappings.ok) return undefined;
  const mapping = roleMappings?.value.find(({ roleArn }) => sameRole(roleArn, arn));
  const missing = NODE_GROUPS.filter((group) => !mapping?.groups.includes(group));
  if (mapping && missing.length === 0) return met;
  if (mapping)
    return notMet(
      `ConfigMap kube-system/aws-auth maps node role ${arn} without ${joined(missing)}. Add ${missing.length === 1 ? 'it' : 'them'} to the groups of the role in mapRoles`,
    );
  if (accessEntry)
    return notMet(
      `Node role ${role} has no access entry in cluster ${cluster.name}, so its nodes cannot join`,
      `Create it: ${creation}`,
    );
  if (!roleMappings) return undefined;
  return notMet(
    `ConfigMap kube-system/aws-auth does not map node role ${arn}, so its nodes cannot join. Map it to the groups ${joined(NODE_GROUPS)}`,
  );
}

/** Those that the bootstrap of the AMI assumes: https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-windows-ami.html#bootstrap-script-configuration-parameters */
const ASSUMED_RANGES: readonly string[] = ['10.100.0.0/16', '172.20.0.0/16'];

/** Whether nodes get the range of the Services. Karpenter does not pass it: https://github.com/aws/karpenter-provider-aws/issues/4088 */
function serviceCidr({ nodeClass, cluster, facts: { script } }: Input): Answer {
  const { serviceCidr: range, name } = cluster;
  const isSet = nodeClass.userData !== undefined && script?.ok && /EKSCluster/i.test(script.value.text ?? '');
  if (range === undefined || ASSUMED_RANGES.includes(range) || isSet) return met;
  return warning(
    `Karpenter does not pass the Service CIDR ${range} to Windows nodes, which then assume ${joined(ASSUMED_RANGES)}, so their pods may not reach Services`,
    `Set karpenter.nodeClass.userData to a script with this line, and allow the node role eks:DescribeCluster: $global:EKSCluster = Get-EKSCluster -Name ${name}`,
  );
}

/** Whether Windows pods can run on the instance types that the requirements name. */
function instanceTypes({ pool, nodeClassFacts, settings: { region } }: KarpenterState): Answer | undefined {
  const found = nodeClassFacts?.instanceTypes;
  if (!found?.ok) return undefined;
  const faults = instanceTypesIn(karpenterIn(pool.spec)).flatMap(
    (name) => instanceTypeFault(name, found.value, region) ?? [],
  );
  if (faults.length === 0) return met;
  return notMet(`${faults.join('. ')}. Correct karpenter.requirements`);
}

/** Whether the parameter that the pool follows has the ID of an AMI. */
function ami({ pool, serverVersion, nodeClassFacts }: KarpenterState): Answer | undefined {
  const { nodeClass } = karpenterIn(pool.spec);
  if (!nodeClass || nodeClass.ami?.id !== undefined) return met;
  const [asked, parameter] = [nodeClassFacts?.ami, parameterIn(pool.spec, nodeClass, serverVersion)];
  if (!asked) return undefined;
  const remedy = 'or set karpenter.nodeClass.ami.id';
  if (!asked.ok) {
    const why = `SSM parameter ${parameter} cannot be read: ${describeFailure(asked.error)}`;
    return notMet(`${why} Give the operator the permission ssm:GetParameter for it, ${remedy}`);
  }
  if (amiOf(asked) !== undefined) return met;
  if (asked.value === undefined) return notMet(`SSM parameter ${parameter} does not exist. Create it, ${remedy}`);
  // The value is not shown: who may read the pool may not be allowed to read every parameter that the operator may.
  return notMet(
    `The value of SSM parameter ${parameter} is not the ID of an AMI, such as ami-0123456789abcdef0. Correct it, ${remedy}`,
  );
}
