import assert from 'node:assert/strict';
import {
  impersonationHeaders,
  type KubeconfigOverrides,
  type KubeconfigParts,
  withOverrides,
} from './kubeconfigOverrides.ts';

const PARTS: KubeconfigParts = {
  clusters: [
    { name: 'one', server: 'https://one', caData: 'ONE', tlsServerName: 'one.internal', skipTLSVerify: false },
    { name: 'two', server: 'https://two', skipTLSVerify: false },
  ],
  users: [
    { name: 'admin', certData: 'CERT', keyData: 'KEY' },
    { name: 'reader', token: 'secret' },
  ],
  contexts: [
    { name: 'a', cluster: 'one', user: 'admin', namespace: 'shop' },
    { name: 'b', cluster: 'two', user: 'reader' },
  ],
  currentContext: 'a',
};
const NOTHING: KubeconfigParts = { clusters: [], users: [], contexts: [], currentContext: '' };

/** The cluster, the user and the namespace that are used. */
function used(parts: KubeconfigParts, overrides: KubeconfigOverrides) {
  const { clusters, users, contexts, currentContext } = withOverrides(parts, overrides, 'FILE');
  const context = contexts.find(({ name }) => name === currentContext);
  const defined = (value: object | undefined) =>
    Object.fromEntries(Object.entries(value ?? {}).filter(([, each]) => each !== undefined));
  return [
    defined(clusters.find(({ name }) => name === context?.cluster)),
    defined(users.find(({ name }) => name === context?.user)),
    context?.namespace,
  ];
}

const [one, two] = PARTS.clusters;
const [admin, reader] = PARTS.users;

describe('the flags that replace parts of a kubeconfig', () => {
  const rows: readonly (readonly [flags: KubeconfigOverrides, cluster: unknown, user: unknown, namespace?: string])[] =
    [
      [{}, one, admin, 'shop'],
      [{ context: 'b' }, two, reader],
      [{ cluster: 'two' }, two, admin, 'shop'],
      [{ user: 'reader' }, one, reader, 'shop'],
      [{ token: 'other' }, one, { name: 'admin', token: 'other' }, 'shop'],
      [
        { server: 'https://third/' },
        { name: 'one', server: 'https://third', caData: 'ONE', skipTLSVerify: false },
        admin,
        'shop',
      ],
      [{ tlsServerName: 'x' }, { ...one, tlsServerName: 'x' }, admin, 'shop'],
      [
        { insecureSkipTlsVerify: true },
        { name: 'one', server: 'https://one', tlsServerName: 'one.internal', skipTLSVerify: true },
        admin,
        'shop',
      ],
      [
        { certificateAuthority: 'ca.crt' },
        { name: 'one', server: 'https://one', tlsServerName: 'one.internal', skipTLSVerify: false, caFile: 'ca.crt' },
        admin,
        'shop',
      ],
      [
        { clientCertificate: 'me.crt', clientKey: 'me.key' },
        one,
        { name: 'admin', certFile: 'me.crt', keyFile: 'me.key' },
        'shop',
      ],
    ];
  for (const [flags, ...expected] of rows)
    it(`use ${JSON.stringify(flags)}`, () =>
      assert.deepEqual(used(PARTS, flags), expected.length === 2 ? [...expected, undefined] : expected));

  it('need no kubeconfig if they have the server', () => {
    assert.deepEqual(used(NOTHING, { server: 'https://third', token: 'x' }), [
      { name: 'flags', server: 'https://third', skipTLSVerify: false },
      { name: 'flags', token: 'x' },
      undefined,
    ]);
  });

  const unknown: readonly (readonly [flags: KubeconfigOverrides, message: string])[] = [
    [{ context: 'c' }, 'FILE has no context c. Choose one of its contexts: a, b.'],
    [{ cluster: 'c' }, 'FILE has no cluster c. Choose one of its clusters: one, two.'],
    [{ user: 'c' }, 'FILE has no user c. Choose one of its users: admin, reader.'],
  ];
  for (const [flags, message] of unknown)
    it(`reject ${JSON.stringify(flags)}`, () => assert.throws(() => withOverrides(PARTS, flags, 'FILE'), { message }));

  it('impersonate a user with groups and a UID', () => {
    assert.deepEqual(impersonationHeaders({}), {});
    assert.deepEqual(impersonationHeaders({ as: 'jane', asGroup: ['dev', 'ops'], asUid: '7' }), {
      'Impersonate-User': 'jane',
      'Impersonate-Group': ['dev', 'ops'],
      'Impersonate-Uid': '7',
    });
    for (const flags of [{ asGroup: ['dev'] }, { asUid: '7' }])
      assert.throws(() => impersonationHeaders(flags), /^Error: --as-group and --as-uid require --as$/);
  });
});
