import assert from 'node:assert/strict';
import type { CreateAccessEntryRequest } from '@aws-sdk/client-eks';
import { nodeRoleArn } from '../network.ts';
import { withOpenCloud } from '../testing/testCloud.ts';
import { assertRejected, rejection } from '../testing/testGroup.ts';

const clusterName = 'demo';
const linuxRole = 'arn:aws:iam::111122223333:role/linux-nodes';
const user = 'arn:aws:iam::111122223333:user/admin';

describe('access entries, through the real SDK client', () => {
  const fixture = withOpenCloud();
  const create = (request: Omit<CreateAccessEntryRequest, 'clusterName'>) =>
    fixture.sdk.eks.createAccessEntry({ clusterName, ...request });
  const describeEntry = (principalArn: string) => fixture.sdk.eks.describeAccessEntry({ clusterName, principalArn });

  afterEach(() => {
    const { faults } = fixture.cloud;
    faults.cluster({ authenticationMode: 'API_AND_CONFIG_MAP' });
    for (const principalArn of [linuxRole, user]) faults.accessEntry({ principalArn, exists: false });
    faults.accessEntry({ type: 'EC2_WINDOWS' });
  });

  it('exist initially for the node role, with the correct type', async () => {
    const { accessEntry } = await describeEntry(nodeRoleArn);
    assert.deepEqual(
      { ...accessEntry, createdAt: undefined, modifiedAt: undefined },
      {
        clusterName,
        principalArn: nodeRoleArn,
        kubernetesGroups: ['eks:kube-proxy-windows', 'system:nodes'],
        accessEntryArn: accessEntry?.accessEntryArn,
        createdAt: undefined,
        modifiedAt: undefined,
        tags: {},
        username: 'system:node:{{EC2PrivateDNSName}}',
        type: 'EC2_WINDOWS',
      },
    );
    assert.match(
      accessEntry?.accessEntryArn ?? '',
      /^arn:aws:eks:us-west-2:111122223333:access-entry\/demo\/role\/111122223333\/windows-nodes\/[0-9a-f-]{36}$/,
    );
    assert.ok(accessEntry?.createdAt instanceof Date);
  });

  it('can be created and tagged', async () => {
    const { accessEntry } = await create({ principalArn: linuxRole, type: 'EC2_LINUX', tags: { team: 'a' } });
    assert.deepEqual([accessEntry?.type, accessEntry?.kubernetesGroups], ['EC2_LINUX', ['system:nodes']]);
    await fixture.sdk.eks.tagResource({ resourceArn: accessEntry?.accessEntryArn, tags: { stage: 'b' } });
    assert.deepEqual((await describeEntry(linuxRole)).accessEntry?.tags, { team: 'a', stage: 'b' });
  });

  it('of type STANDARD get a user name from EKS, or the given one', async () => {
    const { accessEntry } = await create({ principalArn: linuxRole, kubernetesGroups: ['viewers'] });
    const { type, username, kubernetesGroups } = accessEntry ?? {};
    assert.deepEqual(
      { type, username, kubernetesGroups },
      {
        type: 'STANDARD',
        username: 'arn:aws:sts::111122223333:assumed-role/linux-nodes/{{SessionName}}',
        kubernetesGroups: ['viewers'],
      },
    );
    assert.equal((await create({ principalArn: user, username: 'me' })).accessEntry?.username, 'me');
  });

  it('are created once for each token', async () => {
    const request = { principalArn: linuxRole, type: 'EC2_LINUX', clientRequestToken: 'token-1' };
    const first = await create(request);
    assert.deepEqual((await create(request)).accessEntry, first.accessEntry);
    assert.match(
      await rejection(create({ ...request, type: 'EC2_WINDOWS' })),
      /^InvalidRequestException: Client request token/,
    );
  });

  const notFound = /^ResourceNotFoundException: .*principalArn/;
  const refusals: readonly (readonly [what: string, act: () => Promise<unknown>, error: RegExp])[] = [
    [
      'an entry that exists',
      () => create({ principalArn: nodeRoleArn, type: 'EC2_WINDOWS' }),
      /^ResourceInUseException: .*access entry/,
    ],
    ['reading an entry that does not exist', () => describeEntry(linuxRole), notFound],
    [
      'another cluster',
      () => fixture.sdk.eks.describeAccessEntry({ clusterName: 'other', principalArn: nodeRoleArn }),
      /^ResourceNotFoundException: .*No cluster found for name: other\./,
    ],
    [
      'a role that does not exist',
      () => create({ principalArn: 'arn:aws:iam::111122223333:role/none', type: 'EC2_WINDOWS' }),
      /principalArn/,
    ],
    [
      'an unknown type',
      () => create({ principalArn: linuxRole, type: 'EC2_Windows' }),
      /type is EC2_Windows.*EC2_WINDOWS/,
    ],
    ['a user as a node', () => create({ principalArn: user, type: 'EC2_WINDOWS' }), /EC2_WINDOWS.*IAM role/],
    [
      'groups for a node',
      () => create({ principalArn: linuxRole, type: 'EC2_WINDOWS', kubernetesGroups: ['a'] }),
      /kubernetesGroups.*EC2_WINDOWS/,
    ],
    [
      'a reserved user name of Kubernetes',
      () => create({ principalArn: linuxRole, username: 'system:admin' }),
      /username.*system:/,
    ],
    ['a reserved tag of AWS', () => create({ principalArn: linuxRole, tags: { 'aws:x': 'y' } }), /Tag key aws:x/],
    ['no principal', () => create({ principalArn: undefined }), /'principalArn'/],
  ];
  for (const [what, act, error] of refusals) {
    it(`reject ${what}`, async () => {
      await assertRejected(act(), error);
    });
  }

  it('reject every call while the cluster uses only aws-auth', async () => {
    fixture.cloud.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
    const calls = [create({ principalArn: linuxRole }), describeEntry(nodeRoleArn)];
    for (const call of calls) {
      assert.match(await rejection(call), /^InvalidRequestException: .*\[API, API_AND_CONFIG_MAP\]/);
    }
  });

  it('can be changed by a test without the operator', async () => {
    const { faults } = fixture.cloud;
    faults.accessEntry({ type: 'EC2_LINUX' });
    assert.equal((await describeEntry(nodeRoleArn)).accessEntry?.type, 'EC2_LINUX');
    faults.accessEntry({ exists: false });
    assert.match(await rejection(describeEntry(nodeRoleArn)), notFound);
    assert.throws(() => faults.accessEntry({ type: 'LINUX' }), /type is LINUX; it can be STANDARD or EC2_LINUX/);
  });
});
