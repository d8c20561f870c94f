/** The PowerShell that joins the nodes of CUSTOM groups. None runs here: a grammar parses it, and rules check that values are in single-quoted strings. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { assertGolden } from '../../../../../test/goldenText.ts';
import { MAX_USER_DATA_BYTES } from '../../../ports/userScript.ts';
import { nodesIn, powershellParser } from '../../../testing/powershellGrammar.ts';
import { tokensOf } from '../../../testing/powershellTokens.ts';
import { quoted } from '../../../userData/powershell.ts';
import { type Bootstrap, bootstrapUserData, kubeletArgumentsIn } from './bootstrap.ts';

const plain: Bootstrap = {
  cluster: {
    name: 'prod',
    endpoint: 'https://0A1B2C3D4E5F60718293A4B5C6D7E8F9.gr7.eu-central-1.eks.amazonaws.com',
    certificateAuthority: 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==',
  },
  labels: { 'eks.amazonaws.com/nodegroup': 'web' },
  taints: [],
  kubeletArguments: {},
};

const full: Bootstrap = {
  cluster: { ...plain.cluster, serviceCidr: '10.100.0.0/16' },
  labels: {
    'winpool.dev/pool': 'web',
    'eks.amazonaws.com/nodegroup': 'web',
    'eks.amazonaws.com/nodegroup-image': 'ami-0123456789abcdef0',
    team: '',
  },
  taints: [
    { key: 'os', value: 'windows', effect: 'NoSchedule' },
    { key: 'startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate', effect: 'NoSchedule' },
  ],
  kubeletArguments: {},
};

/** One golden file each. */
const specs: Readonly<Record<string, Bootstrap>> = {
  plain,
  'labels-and-taints': full,
  kubelet: {
    ...full,
    kubeletArguments: {
      'system-reserved': 'cpu=500m,memory=1536Mi',
      'kube-reserved': 'memory=512Mi',
      'eviction-hard': 'memory.available<500Mi,nodefs.available<10%',
      'max-pods': '30',
    },
  },
  scripts: {
    ...full,
    before: "Write-Host 'It''s before'\nif ($true) {\n  Write-Host \"$env:COMPUTERNAME\"\n}\n",
    after: 'Write-Host after',
  },
  'not-ascii': { ...plain, before: 'Write-Host ‘Grüße’' },
};

/** The user data of nodes that can get it. */
function bootstrapScript(bootstrap: Bootstrap): string {
  const userData = bootstrapUserData(bootstrap);
  if ('problem' in userData) throw new Error(userData.problem);
  return userData.script;
}

/** Why nodes cannot get it. */
function bootstrapProblem(bootstrap: Bootstrap): string | undefined {
  const userData = bootstrapUserData(bootstrap);
  return 'problem' in userData ? userData.problem : undefined;
}

describe('the user data of CUSTOM groups', () => {
  for (const [name, bootstrap] of Object.entries(specs)) {
    it(`is as in test/golden/userData/${name}.ps1`, () =>
      assertGolden(`userData/${name}.ps1`, bootstrapScript(bootstrap)));
  }

  it('is PowerShell: one table of parameters and one call with it, whatever the values and the scripts are', async () => {
    const parse = await powershellParser();
    for (const bootstrap of Object.values(specs)) parse(bootstrapScript(bootstrap));
    fc.assert(
      fc.property(bootstraps, fc.option(hostileText, { nil: undefined }), (bootstrap, before) => {
        const nodes = nodesIn(parse(bootstrapScript({ ...bootstrap, ...(before !== undefined && { before }) })));
        const named = (type: string) => nodes.filter((node) => node.type === type).map(({ text }) => text);
        assert.equal(named('hash_literal_expression').length, 1);
        assert.deepEqual(
          named('command_invokation_operator').length + named('path_command_name').length,
          before === undefined ? 1 : 3,
        );
        assert.deepEqual(named('expandable_string_literal'), []);
      }),
      { numRuns: 50 },
    );
    assert.throws(() => parse("<powershell>\n& (Join-Path 'a\n</powershell>\n"), /no PowerShell in line 1/);
  });

  it('has every value in a single-quoted string, and the same text around them whatever the values are', () => {
    fc.assert(
      fc.property(bootstraps, (bootstrap) => {
        const { code, strings } = tokensOf(bootstrapScript(bootstrap));
        assert.equal(code, CODE);
        const { name, endpoint, certificateAuthority } = bootstrap.cluster;
        assert.deepEqual(strings.slice(0, 3), [name, endpoint, certificateAuthority]);
      }),
    );
  });

  it('has arguments of the kubelet that can be read back, whatever the scripts are', () => {
    const decoy = "\n  KubeletExtraArgs = '--node-labels=decoy=true'\n";
    fc.assert(
      fc.property(bootstraps, hostileText, (bootstrap, script) => {
        const userData = bootstrapScript({ ...bootstrap, before: `${script}${decoy}`, after: `${decoy}${script}` });
        const found = kubeletArgumentsIn(userData);
        const labels = Object.entries(bootstrap.labels).map(([key, value]) => `${key}=${value}`);
        assert.deepEqual((found.get('node-labels') ?? '').split(','), labels.length > 0 ? labels.sort() : ['']);
        for (const [name, value] of Object.entries(bootstrap.kubeletArguments)) assert.equal(found.get(name), value);
      }),
    );
    assert.deepEqual(kubeletArgumentsIn('<powershell>\nWrite-Host 1\n</powershell>'), new Map());
  });

  it('has the scripts unchanged, so that they cannot end a string or a block', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (before, after) => {
        assert.deepEqual(sourcesIn(bootstrapScript({ ...plain, before, after })), [before, after]);
      }),
    );
  });

  it('is the same script if the launch agent reads it in the ANSI code page of Windows', () => {
    fc.assert(
      fc.property(bootstraps, hostileText, (bootstrap, before) => {
        const script = bootstrapScript({ ...bootstrap, before });
        const read = new TextDecoder('windows-1252').decode(Buffer.from(script, 'utf8'));
        assert.deepEqual(tokensOf(read), tokensOf(script));
      }),
    );
  });

  it('does not depend on the order of labels, taints and arguments', () => {
    const backwards = <T>(map: Readonly<Record<string, T>>) => Object.fromEntries(Object.entries(map).toReversed());
    const { kubelet } = specs;
    assert.ok(kubelet);
    const other = {
      ...kubelet,
      labels: backwards(kubelet.labels),
      taints: kubelet.taints.toReversed(),
      kubeletArguments: backwards(kubelet.kubeletArguments),
    };
    assert.equal(bootstrapScript(other), bootstrapScript(kubelet));
  });

  it('tells the bootstrap the tenth address of the Service CIDR, which is that of the cluster DNS', () => {
    const script = bootstrapScript({ ...plain, cluster: { ...plain.cluster, serviceCidr: '192.168.16.0/20' } });
    assert.match(script, /ServiceCIDR = '192\.168\.16\.0\/20'\n {2}DNSClusterIP = '192\.168\.16\.10'/);
  });

  const cluster = (change: Partial<Bootstrap['cluster']>) => ({ ...plain, cluster: { ...plain.cluster, ...change } });
  const refused: readonly (readonly [string, Bootstrap, RegExp])[] = [
    ['a quotation mark in the name of the cluster', cluster({ name: "a'b" }), /name of the cluster is "a'b"/],
    ['an endpoint with a command', cluster({ endpoint: 'https://$(calc)' }), /endpoint/],
    ['a certificate that is not base64', cluster({ certificateAuthority: '`n' }), /certificate authority/],
    ['a Service CIDR of IPv6', cluster({ serviceCidr: 'fd00::/108' }), /Service CIDR/],
    ['an empty key of a label', { ...plain, labels: { '': 'x' } }, /key of a label is ""/],
    ['a label with another label in its value', { ...plain, labels: { a: 'b,c=d' } }, /value of a label is "b,c=d"/],
    ['a label with another argument in its value', { ...plain, labels: { a: 'b --v=9' } }, /value of a label/],
    ['a label with a line break', { ...plain, labels: { a: 'b\n' } }, /value of a label is "b\\n"/],
    ['a label with a closing tag', { ...plain, labels: { '</powershell>': '' } }, /key of a label/],
    ['a label with a typographic quotation mark', { ...plain, labels: { a: '’; calc' } }, /value of a label/],
    ['a taint with a backtick', { ...plain, taints: [{ key: '`', effect: 'NoSchedule' }] }, /key of a taint/],
    ['a taint with a value of two', { ...plain, taints: [{ key: 'a', value: 'b:c', effect: 'NoSchedule' }] }, /taint/],
    ['an argument that the operator writes', { ...plain, kubeletArguments: { 'node-labels': 'a=b' } }, /node-labels/],
    ['an argument with a space', { ...plain, kubeletArguments: { v: '4 --x=1' } }, /value of a kubelet argument/],
    ['an argument with a quotation mark', { ...plain, kubeletArguments: { v: '"' } }, /value of a kubelet argument/],
    [
      'a script with a closing tag',
      { ...plain, before: 'a </PowerShell> b' },
      /script before the bootstrap contains the tag <\/PowerShell>/,
    ],
    [
      'a script that would run at each start',
      { ...plain, after: '<persist>true' },
      /script after the bootstrap contains the tag/,
    ],
    ['a script of UTF-16', { ...plain, after: 'a\0b\0' }, /NUL/],
    ['more than EC2 accepts', { ...plain, before: '#'.repeat(MAX_USER_DATA_BYTES) }, /at most 16384.*Amazon S3/],
  ];
  for (const [what, bootstrap, message] of refused) {
    it(`is not written with ${what}`, () => {
      assert.match(bootstrapProblem(bootstrap) ?? '', message);
      assert.throws(() => bootstrapScript(bootstrap), message);
    });
  }

  it('may have exactly as many bytes as EC2 accepts', () => {
    const rest = Buffer.byteLength(bootstrapScript({ ...plain, before: 'x' })) - 1;
    const largest = { ...plain, before: '#'.repeat(MAX_USER_DATA_BYTES - rest) };
    assert.equal(Buffer.byteLength(bootstrapScript(largest)), MAX_USER_DATA_BYTES);
    assert.notEqual(bootstrapProblem({ ...plain, before: `${largest.before}#` }), undefined);
  });
});

describe('a quoted string', () => {
  it('has the text as its only token, whatever the text is', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        assert.deepEqual(tokensOf(quoted(text)), { code: '?', strings: [text] });
      }),
    );
  });

  it('is not enough for the reader of these tests if it is not doubled', () => {
    for (const mark of "'‘’‚‛") assert.throws(() => tokensOf(`'it${mark}s'`), /does not end/);
    for (const text of ['"$x"', '# comment', '`', '$(calc)', "@'\n'@"]) assert.throws(() => tokensOf(text), /outside/);
  });
});

/** Text that a careless writer of PowerShell would let out of a string. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "'",
        '‘',
        '’',
        '‚',
        '‛',
        '"',
        '“',
        '`',
        '$(calc)',
        '\n',
        '\r\n',
        '#',
        '<#',
        "@'",
        "'@",
        ';',
        '&',
        '{',
        '}',
        '\u2011',
        'é',
      ),
      fc.string({ maxLength: 4 }).filter((text) => !text.includes('\0')),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))
  .filter((text) => !/<\/?(?:powershell|script|persist|detach)/i.test(text) && text.isWellFormed());

const labelKeys = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}[a-z0-9]$/);
const labelValues = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,8}[A-Za-z0-9]$/);

const bootstraps: fc.Arbitrary<Bootstrap> = fc.record({
  cluster: fc.record({
    name: fc.stringMatching(/^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/),
    endpoint: fc.stringMatching(/^https:\/\/[0-9A-Z]{32}\.gr7\.[a-z]{2}-[a-z]{4}-[1-9]\.eks\.amazonaws\.com$/),
    certificateAuthority: fc.base64String({ minLength: 4, maxLength: 64 }),
  }),
  labels: fc.dictionary(labelKeys, labelValues, { maxKeys: 5, noNullPrototype: true }),
  taints: fc.array(
    fc.record({ key: labelKeys, value: labelValues, effect: fc.constantFrom('NoSchedule', 'PreferNoSchedule') }),
    { maxLength: 3 },
  ),
  kubeletArguments: fc.dictionary(fc.constantFrom('v', 'max-pods'), fc.stringMatching(/^[0-9]{1,3}$/), {
    maxKeys: 2,
    noNullPrototype: true,
  }),
});

/** The text around the strings of user data without scripts and without a Service CIDR. */
const CODE = `<powershell>
$parameters = @{
  EKSClusterName = ?
  APIServerEndpoint = ?
  Base64ClusterCA = ?
  KubeletExtraArgs = ?
}
& (Join-Path $env:ProgramFiles ?) @parameters 3>&1 4>&1 5>&1 6>&1
</powershell>
`;

/** The sources of the script blocks in it. */
function sourcesIn(script: string): string[] {
  const { code, strings } = tokensOf(script);
  const isSource = [
    ...code.matchAll(/\[scriptblock\]::Create\((\?|\[Text\.Encoding\]::UTF8\.GetString\(.*?\?\)\))\)|\?/g),
  ];
  return isSource.flatMap(([, inner], at) => {
    const text = strings[at] ?? '';
    if (inner === undefined) return [];
    return inner === '?' ? [text] : [Buffer.from(text, 'base64').toString('utf8')];
  });
}
