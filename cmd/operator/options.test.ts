import assert from 'node:assert/strict';
import { assertGolden } from '../../test/goldenText.ts';
import { address, duration, names, tags } from './flagValues.ts';
import { type Invocation, readCommand } from './options.ts';

const NEEDED = ['--cluster-name=prod', '--region=eu-west-1'];

/** Commander reads the environment of the process. */
function read(args: readonly string[], env: Record<string, string> = {}): Invocation {
  const before = process.env;
  process.env = env;
  try {
    return readCommand(args, '0.1.0');
  } finally {
    process.env = before;
  }
}

function optionsOf(invocation: Invocation) {
  assert.equal(invocation.kind, 'run', JSON.stringify(invocation));
  return invocation.options;
}

function help(): string {
  const invocation = read(['--help']);
  assert.equal(invocation.kind, 'print');
  return invocation.text;
}

describe('the command line', () => {
  it('requires no flag: without a cluster, the operator serves pools that do not need AWS', () => {
    const { clusterName, region } = optionsOf(read([]));
    assert.deepEqual([clusterName, region], [undefined, undefined]);
    // The webhook of IRSA sets AWS_REGION, and the manifests set empty variables.
    assert.equal(optionsOf(read([], { WINPOOL_CLUSTER_NAME: '', AWS_REGION: 'eu-west-1' })).clusterName, undefined);
  });

  it('reads the name of the cluster and its Region', () => {
    const options = optionsOf(read(NEEDED));
    assert.deepEqual(
      [options.clusterName, options.region, options.kubeconfig, options.pollMs, options.leaderElect],
      ['prod', 'eu-west-1', undefined, 20_000, true],
    );
    assert.deepEqual(options.metricsAddress, { host: '127.0.0.1', port: 8080 });
  });

  it('reads values from the environment, and a flag overrides its variable', () => {
    const env = { WINPOOL_CLUSTER_NAME: 'staging', AWS_REGION: 'us-east-1', WINPOOL_POLL_INTERVAL: '5s' };
    const options = optionsOf(read(['--region', 'eu-west-1'], env));
    assert.deepEqual([options.clusterName, options.region, options.pollMs], ['staging', 'eu-west-1', 5_000]);
  });

  it('reads user data in its own namespace, has its lease in kube-system, and runs pods on nodes in a third one', () => {
    const namespaces = (...given: Parameters<typeof read>) => {
      const { podNamespace, leaderElectionNamespace, nodePodNamespace } = optionsOf(read(...given));
      return [podNamespace, leaderElectionNamespace, nodePodNamespace];
    };
    assert.deepEqual(namespaces(NEEDED), ['winpool-system', 'kube-system', 'winpool-node-pods']);
    assert.deepEqual(namespaces(NEEDED, { POD_NAMESPACE: 'ops' }), ['ops', 'kube-system', 'winpool-node-pods']);
    assert.deepEqual(namespaces([...NEEDED, '--node-pod-namespace=tests']), ['winpool-system', 'kube-system', 'tests']);
  });

  it('treats an empty variable as unset, and uses the last value of a repeated flag', () => {
    const options = optionsOf(
      read(['--workers=0', ...NEEDED, '--workers=2'], { KUBECONFIG: '', WINPOOL_RETRY_MAX: '' }),
    );
    assert.deepEqual([options.kubeconfig, options.retryMaxMs, options.workers], [undefined, 300_000, 2]);
  });

  it('accepts a switch with and without a value', () => {
    const ipam = (...args: string[]) => optionsOf(read([...args, ...NEEDED])).enableWindowsIpam;
    assert.deepEqual(
      [ipam(), ipam('--enable-windows-ipam'), ipam('--enable-windows-ipam=false')],
      [false, true, false],
    );
    assert.equal(optionsOf(read(NEEDED, { WINPOOL_ENABLE_WINDOWS_IPAM: 'true' })).enableWindowsIpam, true);
  });

  it('prints help and version despite other errors', () => {
    assert.deepEqual(read(['--nonsense', '--help']), { kind: 'print', text: help() });
    assert.deepEqual(read(['--version']), { kind: 'print', text: '0.1.0' });
  });

  it('describes every flag with its default and its variable in --help', () => {
    const described = help()
      .replace(/\s+/g, ' ')
      .matchAll(/ (--[a-z-]+ (?:<\w+>|\[\w+\])) (?:(?!\(default|\(env).)+ \((?:default: "([^"]+)", )?env: (\w+)\)/g);
    assert.deepEqual(
      [...described].map(([, flag, value, variable]) => [flag, value, variable]),
      [
        ['--cluster-name <name>', undefined, 'WINPOOL_CLUSTER_NAME'],
        ['--region <name>', undefined, 'AWS_REGION'],
        ['--default-tags <tags>', undefined, 'WINPOOL_DEFAULT_TAGS'],
        ['--kubeconfig <file>', undefined, 'KUBECONFIG'],
        ['--machines-kubeconfig <file>', undefined, 'WINPOOL_MACHINES_KUBECONFIG'],
        ['--service-account-dir <path>', undefined, 'WINPOOL_SERVICE_ACCOUNT_DIR'],
        ['--workers <number>', '4', 'WINPOOL_WORKERS'],
        ['--poll-interval <duration>', '20s', 'WINPOOL_POLL_INTERVAL'],
        ['--resync-interval <duration>', '10m', 'WINPOOL_RESYNC_INTERVAL'],
        ['--join-grace <duration>', '15m', 'WINPOOL_JOIN_GRACE'],
        ['--create-retry-interval <duration>', '15m', 'WINPOOL_CREATE_RETRY_INTERVAL'],
        ['--denied-retry-interval <duration>', '1m', 'WINPOOL_DENIED_RETRY_INTERVAL'],
        ['--retry-base <duration>', '1s', 'WINPOOL_RETRY_BASE'],
        ['--retry-max <duration>', '5m', 'WINPOOL_RETRY_MAX'],
        ['--reconcile-timeout <duration>', '2m', 'WINPOOL_RECONCILE_TIMEOUT'],
        ['--max-pools-updating <number>', '1', 'WINPOOL_MAX_POOLS_UPDATING'],
        ['--enable-windows-ipam [boolean]', 'false', 'WINPOOL_ENABLE_WINDOWS_IPAM'],
        ['--enable-node-group-adoption [boolean]', 'false', 'WINPOOL_ENABLE_NODE_GROUP_ADOPTION'],
        ['--pod-namespace <name>', 'winpool-system', 'POD_NAMESPACE'],
        [
          '--docs-url <url>',
          'https://github.com/windowspool-operator/windowspool-operator/blob/main/docs',
          'WINPOOL_DOCS_URL',
        ],
        ['--node-pod-namespace <name>', 'winpool-node-pods', 'WINPOOL_NODE_POD_NAMESPACE'],
        ['--allowed-image-pull-secrets <names>', undefined, 'WINPOOL_ALLOWED_IMAGE_PULL_SECRETS'],
        ['--leader-elect <boolean>', 'true', 'WINPOOL_LEADER_ELECT'],
        ['--leader-election-namespace <name>', 'kube-system', 'WINPOOL_LEADER_ELECTION_NAMESPACE'],
        ['--metrics-address <address>', '127.0.0.1:8080', 'WINPOOL_METRICS_ADDRESS'],
        ['--metrics-secure <boolean>', 'true', 'WINPOOL_METRICS_SECURE'],
        ['--metrics-cert-dir <path>', undefined, 'WINPOOL_METRICS_CERT_DIR'],
        ['--health-address <address>', '127.0.0.1:8081', 'WINPOOL_HEALTH_ADDRESS'],
        ['--log-level <level>', 'info', 'WINPOOL_LOG_LEVEL'],
      ],
    );
  });

  const mistakes: readonly (readonly [args: readonly string[], env: Record<string, string>])[] = [
    [['--cluster-name=prod'], {}],
    [['--cluster-name=CLUSTER_NAME', '--region=REGION'], {}],
    [[], { WINPOOL_CLUSTER_NAME: 'CLUSTER_NAME', AWS_REGION: 'eu-west-1' }],
    [['--cluster-name=arn:aws:eks:eu-west-1:111122223333:cluster/prod', '--region=eu-west-1a'], {}],
    [[...NEEDED, '--default-tags=team'], {}],
    [[...NEEDED, '--default-tags=team=a,team=b'], {}],
    [[...NEEDED, '--default-tags=winpool.dev/pool=web'], {}],
    [[...NEEDED, '--poll-intervall=3s'], {}],
    [[...NEEDED, '--colour=red'], {}],
    [[...NEEDED, 'start'], {}],
    [[...NEEDED, ''], {}],
    [[...NEEDED, '--', ''], {}],
    [['', ...NEEDED], {}],
    [[...NEEDED, '--', '--workers'], {}],
    [[...NEEDED, '--enable-windows-ipam', 'true'], {}],
    [[...NEEDED, '--', '--workers=5'], {}],
    [[...NEEDED, '--version=2'], {}],
    [[...NEEDED, '--poll-interval=20'], {}],
    [[...NEEDED, '--poll-interval=-5s'], {}],
    [[...NEEDED, '--metrics-address=:8443', '--metrics-secure=false'], {}],
    [[...NEEDED, '--workers=0'], {}],
    [[...NEEDED, '--max-pools-updating=0'], {}],
    [[...NEEDED, '--log-level=loud'], {}],
    [[...NEEDED, '--leader-elect=no'], {}],
    [[...NEEDED, '--metrics-address=8080'], {}],
    [NEEDED, { WINPOOL_WORKERS: 'many' }],
    [[...NEEDED, '--enable-windows-ipam=maybe'], {}],
    [[...NEEDED, '--kubeconfig='], {}],
  ];

  it('rejects mistakes with a remedy', async () => {
    const texts = mistakes.map(([args, env]) => {
      const typed = [...Object.entries(env).map((variable) => variable.join('=')), ...args.map((arg) => arg || "''")];
      const invocation = read(args, env);
      assert.equal(invocation.kind, 'refuse', typed.join(' '));
      return [`# ${typed.join(' ')}`, ...invocation.errors].join('\n');
    });
    await assertGolden('operator-flags', `${texts.join('\n\n')}\n`);
  });

  it('reports all errors at once', () => {
    const args = ['--log-level=loud', '--pol-interval=3s', 'start', '--colour', 'red', '--health-address'];
    const invocation = read(args, { WINPOOL_WORKERS: '0' });
    assert.equal(invocation.kind, 'refuse');
    assert.deepEqual(
      invocation.errors.map((text) => /'.+?'|--[\w-]+|WINPOOL_\w+/.exec(text)?.[0]),
      [
        'WINPOOL_WORKERS',
        '--health-address',
        '--log-level',
        "'--pol-interval'",
        "'start'",
        "'--colour'",
        "'red'",
        '--help',
      ],
    );
  });
});

describe('the values of flags', () => {
  it('parses durations in the format of Kubernetes', () => {
    assert.deepEqual(['500ms', '20s', '1.5m', '1h30m'].map(duration), [500, 20_000, 90_000, 5_400_000]);
  });

  it('parses AWS tags, with the characters that AWS allows', () => {
    assert.deepEqual(tags('team=shop,cost center=a=b/c@d,empty='), {
      team: 'shop',
      'cost center': 'a=b/c@d',
      empty: '',
    });
  });

  it('parses names of objects, of which none may be given', () => {
    assert.deepEqual([names('a,b.c'), names('')], [['a', 'b.c'], []]);
    assert.throws(() => names('a,B'), /names of objects, separated by commas/);
  });

  it('parses addresses with and without a host, and 0 as disabled', () => {
    assert.deepEqual(address(':8080'), { host: '0.0.0.0', port: 8080 });
    assert.deepEqual(address('[::1]:9'), { host: '::1', port: 9 });
    assert.equal(address('0'), undefined);
  });
});
