import assert from 'node:assert/strict';
import { isRole, roleArnOf } from './nodeRole.ts';

describe('the node role', () => {
  const cases: readonly (readonly [nodeRole: string, cluster: string, arn: string])[] = [
    ['nodes', 'arn:aws:eks:eu-west-1:111122223333:cluster/prod', 'arn:aws:iam::111122223333:role/nodes'],
    ['nodes', 'arn:aws-cn:eks:cn-north-1:111122223333:cluster/prod', 'arn:aws-cn:iam::111122223333:role/nodes'],
    [
      'arn:aws:iam::444455556666:role/teams/nodes',
      'arn:aws:eks:eu-west-1:111122223333:cluster/prod',
      'arn:aws:iam::444455556666:role/teams/nodes',
    ],
  ];
  for (const [nodeRole, cluster, arn] of cases)
    it(`${nodeRole} has the ARN ${arn} in a cluster of ${cluster.split(':')[1]}`, () => {
      assert.equal(roleArnOf(nodeRole, { arn: cluster }), arn);
      assert.ok(isRole(arn, nodeRole));
    });

  it('is not that of a role with a path, or of a longer name', () => {
    for (const arn of ['arn:aws:iam::111122223333:role/teams/nodes', 'arn:aws:iam::111122223333:role/windows-nodes'])
      assert.ok(!isRole(arn, 'nodes'), arn);
  });
});
