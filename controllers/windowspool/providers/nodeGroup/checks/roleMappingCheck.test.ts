import type { Cluster } from '../../../ports/eks.ts';
import { adviceTable, planned } from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';
import { derive } from '../../../testing/derived.ts';
import { type SpecChange, sampleCluster } from '../../../testing/fixtures.ts';
import { unasked } from '../../../testing/prerequisites.ts';
import type { CheckFacts } from '../model/checkFacts.ts';

const testAdvice = adviceTable('checks/roleMappingCheck');

const ROLE = 'arn:aws:iam::111122223333:role/windows-nodes';
const groups = ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'];

/** A cluster with only aws-auth, which maps the node role, and with these nodes outside of managed node groups. */
const mapped = (
  nodes: readonly string[],
  facts: Partial<CheckFacts> = {},
  spec: SpecChange = {},
  cluster: Partial<Cluster> = { authenticationMode: 'CONFIG_MAP' },
) =>
  derive({
    ...planned({ unmanagedNodes: known(nodes) }, spec, {
      accessEntry: known(undefined),
      roleMappings: known([{ roleArn: ROLE, groups }]),
      ...facts,
    }),
    cluster: { kind: 'seen', cluster: sampleCluster(cluster) } as const,
  });

describe('advice about the mapping of the node role', () => {
  const one = [['RoleMappingShared', ROLE, 'kube-system/aws-auth', 'kops-1', 'deletionPolicy: Retain']] as const;
  testAdvice([
    ['a cluster whose nodes are all in managed node groups', mapped([]), []],
    ['a node in no managed node group', mapped(['kops-1']), one],
    ['such a node in a cluster that also has access entries', mapped(['kops-1'], {}, {}, {}), one],
    [
      'several such nodes',
      mapped(['kops-1', 'kops-2', 'kops-3', 'kops-4']),
      [['RoleMappingShared', ROLE, 'kops-3', '1 more', 'deletionPolicy: Retain']],
    ],
    ['a role with an access entry', mapped(['kops-1'], { accessEntry: known({ type: 'EC2_WINDOWS' }) }, {}, {}), []],
    ['a cluster that has only access entries', mapped(['kops-1'], {}, {}, { authenticationMode: 'API' }), []],
    ['a role that is not mapped', mapped(['kops-1'], { roleMappings: known([]) }), []],
    ['a node group that stays', mapped(['kops-1'], {}, { deletionPolicy: 'Retain' }), []],
    ['nodes that cannot be listed', mapped([], { unmanagedNodes: unasked() }), []],
    ['a ConfigMap that cannot be read', mapped(['kops-1'], { roleMappings: unasked() }), []],
  ]);
});
