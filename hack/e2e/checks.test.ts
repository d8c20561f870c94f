import assert from 'node:assert/strict';
import {
  accountError,
  expiryError,
  expiryWarning,
  kubeconfigError,
  machineAccessError,
  mixtureError,
  operatorError,
  poolsError,
  type RoleUse,
  roleMappingError,
} from './checks.ts';

const settings = { account: '111122223333', clusterName: 'my-cluster', region: 'eu-west-1' };

describe('a run is rejected because of', () => {
  it('credentials of another account, for any user', () => {
    assert.equal(accountError('111122223333', settings), undefined);
    assert.match(accountError('444455556666', settings) ?? '', /your credentials belong to account 444455556666/);
    assert.equal(accountError('111122223333', settings, 'operator'), undefined);
    assert.match(
      accountError('444455556666', settings, 'operator') ?? '',
      /account 444455556666\..* E2E_OPERATOR_PROFILE .* account 111122223333\.$/,
    );
  });

  describe('a kubeconfig', () => {
    const config = (data?: string) => ({
      'current-context': 'jane@other',
      clusters: [{ name: 'other', cluster: data === undefined ? {} : { 'certificate-authority-data': data } }],
    });
    const table: readonly [what: string, config: ReturnType<typeof config>, caData: string, isRefused: boolean][] = [
      ['with another certificate authority', config('b3RoZXI='), 'Y2E=', true],
      ['without a certificate authority', config(), 'Y2E=', true],
      ['without one, of a cluster without one', config(''), '', true],
      ['but not if both are equal', config('Y2E='), 'Y2E=', false],
    ];
    for (const [what, given, caData, isRefused] of table)
      it(what, () => {
        const error = kubeconfigError(given, caData, settings);
        if (isRefused) assert.match(error ?? '', /jane@other, is not cluster my-cluster.*--name my-cluster/);
        else assert.equal(error, undefined);
      });
  });

  describe('other nodes that may have the node role,', () => {
    const role = 'arn:aws:iam::111122223333:role/windows-nodes';
    const mapped = { entryType: undefined, awsAuthGroups: ['system:nodes'] };
    const table: readonly [what: string, use: Partial<RoleUse>, isRefused: boolean][] = [
      ['which lose its mapping in aws-auth', {}, true],
      ['but not if another managed node group keeps the mapping', { usedBy: ['other'] }, false],
      ['but not if there are none', { others: [] }, false],
      ['but not if the role has an access entry', { access: { ...mapped, entryType: 'EC2_WINDOWS' } }, false],
      ['but not if the role is not mapped', { access: { ...mapped, awsAuthGroups: undefined } }, false],
      ['but not if aws-auth cannot be read', { access: { ...mapped, awsAuthGroups: 'malformed: a' } }, false],
    ];
    for (const [what, use, isRefused] of table)
      it(what, () => {
        const error = roleMappingError(role, { access: mapped, usedBy: [], others: ['a', 'b', 'c', 'd'], ...use });
        if (isRefused) assert.match(error ?? '', /role\/windows-nodes.*: a, b, c and 1 more\..*NODE_ROLE_NAME/);
        else assert.equal(error, undefined);
      });
  });

  describe('an operator', () => {
    const deployment = (spec: { replicas?: number }, status = {}) => ({
      metadata: { name: 'op', namespace: 'any' },
      spec,
      status,
    });
    const table: readonly [what: string, deployments: Parameters<typeof operatorError>[0], isRefused: boolean][] = [
      ['in any namespace', [deployment({ replicas: 0 }), deployment({ replicas: 2 })], true],
      ['with the default number of replicas', [deployment({})], true],
      ['whose last pod still exists', [deployment({ replicas: 0 }, { replicas: 1 })], true],
      ['but not if it is scaled to 0', [deployment({ replicas: 0 })], false],
      ['but not if there is none', [], false],
    ];
    for (const [what, deployments, isRefused] of table)
      it(what, () => {
        const error = operatorError(deployments);
        if (isRefused) assert.match(error ?? '', /Deployment any\/op\..*--namespace any scale deployment op/);
        else assert.equal(error, undefined);
      });
  });

  it('a node role without the access of Windows nodes, if only the user can map it', () => {
    const errorOf = (mode: string, awsAuthGroups?: readonly string[]) =>
      machineAccessError('arn:role', { entryType: undefined, awsAuthGroups }, mode);
    assert.deepEqual(
      [errorOf('API'), errorOf('CONFIG_MAP', ['system:nodes', 'eks:kube-proxy-windows'])],
      [undefined, undefined],
    );
    const message =
      /node role arn:role .* eks:kube-proxy-windows in ConfigMap kube-system\/aws-auth .* unset E2E_MACHINE/;
    for (const groups of [undefined, ['system:nodes']]) assert.match(errorOf('CONFIG_MAP', groups) ?? '', message);
  });

  it('existing pools', () => {
    assert.equal(poolsError([]), undefined);
    assert.match(poolsError(['web', 'batch']) ?? '', /WindowsPools that exist: web, batch\./);
  });

  it('an incomplete installation', () => {
    const all = ['role/a', 'role/b'];
    assert.deepEqual([mixtureError('the roles', all, []), mixtureError('the roles', all, all)], [undefined, undefined]);
    assert.match(mixtureError('the roles', all, ['role/b']) ?? '', /^Only some .*exist: role\/b\. Missing: role\/a\./);
  });
});

describe('credentials that can expire before the cleanup', () => {
  const now = Date.UTC(2026, 3, 20);
  const need = { neededMs: 2 * 3_600_000, now, whose: 'Your credentials' };
  const at = (hours: number) => new Date(now + hours * 3_600_000);
  const env = { CREDENTIALS_ENV_VARS: 'g' };
  const session = { sessionToken: 'token' };

  it('are rejected with the remaining and the required time', () => {
    const error = expiryError({ ...session, expiration: at(1), $source: env }, need);
    assert.match(error ?? '', /^Your credentials expire in 60 min\b.* 120 min\b/);
    assert.match(expiryError({ ...session, expiration: at(-1), $source: env }, need) ?? '', /expire in 0 min/);
  });

  const fine: readonly [what: string, credentials: Parameters<typeof expiryError>[0]][] = [
    ['that last long enough', { ...session, expiration: at(2), $source: env }],
    ['that the SDK refreshes', { ...session, expiration: at(1), $source: { CREDENTIALS_SSO: 's' } }],
    [
      'of a role that the SDK assumes with static ones',
      {
        ...session,
        expiration: at(1),
        $source: {
          CREDENTIALS_PROFILE: 'n',
          CREDENTIALS_STS_ASSUME_ROLE: 'i',
          CREDENTIALS_PROFILE_SOURCE_PROFILE: 'o',
        },
      },
    ],
    ['of a user, which never expire', { $source: { CREDENTIALS_PROFILE: 'n' } }],
    ['from a source that the SDK does not name', { ...session, expiration: at(1) }],
  ];
  for (const [what, credentials] of fine)
    it(`are not those ${what}`, () =>
      assert.deepEqual([expiryError(credentials, need), expiryWarning(credentials, need)], [undefined, undefined]));

  it('cause a warning if their expiry is unknown', () => {
    const credentials = { ...session, $source: { CREDENTIALS_PROFILE: 'n' } };
    assert.equal(expiryError(credentials, need), undefined);
    assert.match(expiryWarning(credentials, need) ?? '', /^WARNING: Your credentials .* expire within 120 min/);
  });
});
