import assert from 'node:assert/strict';
import type { AuditEvent } from './audit.ts';
import { covers, grantsOf, missing, type RbacObject, shippedGrants, unneeded } from './grants.ts';

const binding = (kind: string, name: string, account: string): RbacObject => ({
  kind: `${kind}Binding`,
  metadata: { name },
  roleRef: { kind, name },
  subjects: [{ kind: 'ServiceAccount', name: account }],
});
const role: RbacObject = {
  kind: 'Role',
  metadata: { name: 'leases', namespace: 'here' },
  rules: [
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      resourceNames: ['one', 'two'],
      verbs: ['get', 'update'],
    },
  ],
};
const clusterRole: RbacObject = {
  kind: 'ClusterRole',
  metadata: { name: 'pods' },
  rules: [{ apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] }],
};
const grants = grantsOf([
  role,
  clusterRole,
  binding('Role', 'leases', 'windowspool-operator'),
  binding('ClusterRole', 'pods', 'windowspool-operator'),
]);

const event = (verb: string, objectRef?: AuditEvent['objectRef'], code = 200): AuditEvent => ({
  stage: 'ResponseComplete',
  verb,
  requestURI: '/',
  user: { username: 'x' },
  ...(objectRef && { objectRef }),
  responseStatus: { code },
});
const lease = { apiGroup: 'coordination.k8s.io', resource: 'leases', name: 'one', namespace: 'here' };
const eviction = { resource: 'pods', subresource: 'eviction', name: 'web-0', namespace: 'shop' };

describe('grants of roles', () => {
  it('are listed by verb, resource and name', () =>
    assert.deepEqual(unneeded(grants, []), [
      'Role leases get leases.coordination.k8s.io one in here',
      'Role leases update leases.coordination.k8s.io one in here',
      'Role leases get leases.coordination.k8s.io two in here',
      'Role leases update leases.coordination.k8s.io two in here',
      'ClusterRole pods create pods/eviction',
    ]));

  it('include only roles that are bound to the operator', () => {
    const objects = [
      role,
      clusterRole,
      binding('Role', 'leases', 'another-user'),
      binding('Role', 'pods', 'windowspool-operator'),
    ];
    assert.deepEqual(grantsOf(objects), []);
  });

  const table: readonly (readonly [what: string, asked: AuditEvent, covered: boolean])[] = [
    ['an object by its name', event('get', lease), true],
    ['another name', event('get', { ...lease, name: 'three' }), false],
    ['another namespace', event('get', { ...lease, namespace: 'there' }), false],
    ['another verb', event('delete', lease), false],
    ['another group', event('get', { ...lease, apiGroup: 'x' }), false],
    ['a subresource', event('create', eviction), true],
    ['the resource without it', event('create', { resource: 'pods', namespace: 'shop' }), false],
  ];
  for (const [what, asked, covered] of table) {
    it(`${covered ? 'cover' : 'do not cover'} ${what}`, () =>
      assert.equal(
        grants.some((grant) => covers(grant, asked)),
        covered,
      ));
  }

  it('are not needed by a denied request', () => {
    assert.ok(unneeded(grants, [event('create', eviction, 403)]).includes('ClusterRole pods create pods/eviction'));
    // A budget rejects an eviction with 429, which needs the permission.
    assert.ok(!unneeded(grants, [event('create', eviction, 429)]).includes('ClusterRole pods create pods/eviction'));
  });

  it('to create an object are needed by a server-side apply that created it, not by one that changed it', () => {
    const options = grantsOf([
      { ...role, rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['one'], verbs: ['create'] }] },
      binding('Role', 'leases', 'windowspool-operator'),
    ]);
    const map = { resource: 'configmaps', name: 'one', namespace: 'here' };
    assert.deepEqual(unneeded(options, [event('patch', map, 200)]), ['Role leases create configmaps one in here']);
    assert.deepEqual(unneeded(options, [event('patch', map, 201)]), []);
  });

  it('are missing for unexpected denials, each listed once', () => {
    const secret = { resource: 'secrets', namespace: 'here' };
    const events = [
      event('list', secret, 403),
      event('list', secret, 403),
      event('get', secret),
      event('get', lease, 403),
    ];
    assert.deepEqual(missing(grants, events), ['no role list secrets in here']);
  });

  it('in config/rbac exist for each role of the operator', async () => {
    const roles = new Set((await shippedGrants()).map(({ role: name }) => name));
    assert.deepEqual([...roles].sort(), [
      'ClusterRole windowspool-operator',
      'ClusterRole windowspool-operator-karpenter',
      'ClusterRole windowspool-operator-machine-templates',
      'ClusterRole windowspool-operator-machines',
      'Role windowspool-operator-leader-election',
      'Role windowspool-operator-node-events',
      'Role windowspool-operator-node-pods',
      'Role windowspool-operator-prerequisites',
      'Role windowspool-operator-user-data',
      'Role windowspool-operator-windows-ipam',
    ]);
  });
});
