import assert from 'node:assert/strict';
import { Redactor } from './redact.ts';

const redactor = new Redactor({ 'my-cluster': '<cluster>', 'windows-nodes': '<node-role>' }, 'salt');
const redact = (text: string) => redactor.text(text);

describe('a redacted text', () => {
  const table: readonly [what: string, text: string, clean: string | RegExp][] = [
    ['has no account id', 'account 111122223333', 'account <account>'],
    [
      'has no account id and no name in an ARN',
      'arn:aws:iam::111122223333:role/windows-nodes/x on arn:aws:eks:eu-west-1:111122223333:cluster/my-cluster',
      'arn:aws:iam::<account>:role/<node-role>/x on arn:aws:eks:eu-west-1:<account>:cluster/<cluster>',
    ],
    [
      'keeps the account of an AWS service',
      'arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy',
      'arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy',
    ],
    [
      'has no account ID next to other characters',
      'x_111122223333 and 111122223333_admin',
      'x_<account> and <account>_admin',
    ],
    ['keeps other numbers', 'after 1760000000000 ms', 'after 1760000000000 ms'],
    [
      'has no session and no role of the caller',
      'User: arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_Admin_abc/jane.doe@example.com is not authorized',
      'User: arn:aws:sts::<account>:assumed-role/<caller> is not authorized',
    ],
    ['has no IAM user', '"arn:aws:iam::111122223333:user/team/jane"', '"arn:aws:iam::<account>:user/<caller>"'],
    [
      'has no other role',
      'arn:aws:iam::111122223333:role/path/eks-admin, and arn:aws:iam::111122223333:role/aws-service-role/eks.amazonaws.com/X',
      'arn:aws:iam::<account>:role/<role>, and arn:aws:iam::<account>:role/aws-service-role/eks.amazonaws.com/X',
    ],
    ['has no e-mail address', 'created by jane.doe@example.com.', 'created by <email>'],
    ['has no part of another name', 'my-cluster-role and tf_my_cluster', '<cluster>-role and tf_<cluster>'],
    ['keeps words that contain a name', 'my-clusters', 'my-clusters'],
    [
      'has no home folder',
      'open /home/jane/src/crds: no such file; file:///Users/joe/x',
      'open /home/<user>/src/crds: no such file; file:///Users/<user>/x',
    ],
    ['has no access key', 'key AKIAIOSFODNN7EXAMPLE', 'key <access-key>'],
    ['has no secret key', 'secret wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY1', 'secret <secret>'],
    ['has no token', 'Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln', 'Bearer <token>'],
    ['has no token of EKS', 'k8s-aws-v1.aHR0cHM6Ly9zdHM', '<token>'],
    [
      'has no encoded message',
      'Encoded authorization failure message: abc_DEF-1 x',
      'Encoded authorization failure message: <encoded-message> x',
    ],
    ['has no request id', 'Status Code: 400, Request ID: a1b2-c3, x', 'Status Code: 400, Request ID: <request-id>, x'],
    ['has no endpoint', 'https://0A1B2C.gr7.eu-west-1.eks.amazonaws.com/api', 'https://<endpoint>/api'],
    ['has hashed ids', 'i-0a1b2c3d4e5f60718 in subnet-0a1000000000000aa', /^i-<[0-9a-f]{8}> in subnet-<[0-9a-f]{8}>$/],
    ['has hashed node names', 'ip-10-0-1-23.eu-west-1.compute.internal', /^node-<[0-9a-f]{8}>$/],
    ['has no addresses', 'at 10.0.1.23:443', 'at <ip>:443'],
    [
      'keeps versions',
      '10.0.20348.2762 and 1.36-2026.04.18 and v1.36.1-eks-3385e9f',
      '10.0.20348.2762 and 1.36-2026.04.18 and v1.36.1-eks-3385e9f',
    ],
    [
      'keeps labels of EKS',
      'eks.amazonaws.com/nodegroup on eks:nodegroup-name',
      'eks.amazonaws.com/nodegroup on eks:nodegroup-name',
    ],
    ['has no certificate', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----', '<pem>'],
  ];
  for (const [what, text, clean] of table)
    it(what, () => (typeof clean === 'string' ? assert.equal(redact(text), clean) : assert.match(redact(text), clean)));

  it('has a unique stand-in for each ID', () => {
    assert.equal(redact('i-0a1b2c3d4'), redact('i-0a1b2c3d4'));
    assert.notEqual(redact('i-0a1b2c3d4'), redact('i-0a1b2c3d5'));
    assert.notEqual(redact('i-0a1b2c3d4'), new Redactor({}, 'other').text('i-0a1b2c3d4'));
  });

  it('can be anywhere in a value, including its keys', () => {
    assert.deepEqual(redactor.value({ 'a-111122223333': ['x 111122223333', { b: 12, c: null, d: 'my-cluster' }] }), {
      'a-<account>': ['x <account>', { b: 12, c: null, d: '<cluster>' }],
    });
  });
});
