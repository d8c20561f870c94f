import assert from 'node:assert/strict';
import { address, duration } from './flagValues.ts';
import { type Command, help, readCommand } from './options.ts';

const NEEDED = ['--cluster-name=prod', '--region=eu-west-1'];

function read(args: readonly string[], env: Record<string, string> = {}): Command {
  return readCommand(args, env, '0.1.0');
}

function optionsOf(command: Command) {
  assert.equal(command.kind, 'run', JSON.stringify(command));
  return command.options;
}

describe('the command line', () => {
  it('runs with the two flags that have no default', () => {
    const options = optionsOf(read(NEEDED));
    assert.deepEqual(
      [options.clusterName, options.region, options.kubeconfig, options.pollMs, options.leaderElect],
      ['prod', 'eu-west-1', undefined, 20_000, true],
    );
    assert.deepEqual(options.metricsAddress, { host: '127.0.0.1', port: 8080 });
  });

  it('takes values from the environment, and a flag before its variable', () => {
    const env = { WINPOOL_CLUSTER_NAME: 'staging', AWS_REGION: 'us-east-1', WINPOOL_POLL_INTERVAL: '5s' };
    const options = optionsOf(read(['--region', 'eu-west-1'], env));
    assert.deepEqual([options.clusterName, options.region, options.pollMs], ['staging', 'eu-west-1', 5_000]);
  });

  it('takes a switch alone or with a value', () => {
    const dryRun = (...args: string[]) => optionsOf(read([...args, ...NEEDED])).dryRun;
    assert.deepEqual([dryRun(), dryRun('--dry-run'), dryRun('--dry-run=false')], [false, true, false]);
    assert.equal(optionsOf(read(NEEDED, { WINPOOL_DRY_RUN: 'true' })).dryRun, true);
  });

  it('prints help and version whatever else is wrong', () => {
    assert.deepEqual(read(['--nonsense', '--help']), { kind: 'print', text: help() });
    assert.deepEqual(read(['--version']), { kind: 'print', text: '0.1.0' });
  });

  it('describes every flag with its variable in --help', () => {
    for (const word of [
      '--cluster-name',
      '[AWS_REGION]',
      '--join-grace',
      'Default: 15m',
      '--leader-elect',
      '[POD_NAMESPACE]',
    ]) {
      assert.ok(help().includes(word), word);
    }
  });

  const mistakes: readonly (readonly [readonly string[], Record<string, string>, string])[] = [
    [
      ['--region=eu-west-1'],
      {},
      '--cluster-name is missing: give it, or set WINPOOL_CLUSTER_NAME. Name of the EKS cluster that the operator runs in. Required.',
    ],
    [[...NEEDED, '--poll-intervall=3s'], {}, '--poll-intervall is unknown. Did you mean --poll-interval?'],
    [[...NEEDED, '--colour=red'], {}, '--colour is unknown.'],
    [[...NEEDED, 'start'], {}, '"start" is no flag: the operator takes flags only.'],
    [[...NEEDED, '--poll-interval=20'], {}, '--poll-interval 20: is no duration. Write it as 500ms, 20s, 10m or 1h30m'],
    [
      [...NEEDED, '--poll-interval=-5s'],
      {},
      '--poll-interval -5s: is no duration. Write it as 500ms, 20s, 10m or 1h30m',
    ],
    [
      [...NEEDED, '--metrics-address=:8443', '--metrics-secure=false'],
      {},
      '--metrics-secure=false: metrics without TLS are served on loopback only, and --metrics-address is 0.0.0.0. Leave --metrics-secure out, or write --metrics-address=127.0.0.1:8443',
    ],
    [[...NEEDED, '--workers=0'], {}, '--workers 0: is no whole number from 1 to 100'],
    [[...NEEDED, '--max-pools-updating=0'], {}, '--max-pools-updating 0: is no whole number from 1 to 1000'],
    [[...NEEDED, '--log-level=loud'], {}, '--log-level loud: is none of trace, debug, info, warn, error'],
    [[...NEEDED, '--leader-elect=no'], {}, '--leader-elect no: is neither true nor false'],
    [
      [...NEEDED, '--metrics-address=8080'],
      {},
      '--metrics-address 8080: is no address. Write it as 127.0.0.1:8080, :8080 or 0',
    ],
    [NEEDED, { WINPOOL_WORKERS: 'many' }, 'WINPOOL_WORKERS=many: is no whole number from 1 to 100'],
    [[...NEEDED, '--dry-run=maybe'], {}, '--dry-run maybe: is neither true nor false'],
    [
      [...NEEDED, '--kubeconfig='],
      {},
      '--kubeconfig has no value: write --kubeconfig=VALUE. Path of a kubeconfig. Default: the ServiceAccount of the pod.',
    ],
  ];
  for (const [args, env, message] of mistakes) {
    it(`refuses ${[...args, ...Object.keys(env)].at(-1)} and says what to write`, () => {
      assert.deepEqual(read(args, env), { kind: 'refuse', errors: [message, 'Run with --help to see every flag.'] });
    });
  }

  it('names all mistakes at once', () => {
    const command = read(['--workers=0', '--log-level=loud']);
    assert.equal(command.kind, 'refuse');
    assert.equal(command.errors.length, 5);
  });
});

describe('the values of flags', () => {
  it('reads durations as Kubernetes spells them', () => {
    assert.deepEqual(['500ms', '20s', '1.5m', '1h30m'].map(duration), [500, 20_000, 90_000, 5_400_000]);
  });

  it('reads addresses with and without a host, and 0 as off', () => {
    assert.deepEqual(address(':8080'), { host: '0.0.0.0', port: 8080 });
    assert.deepEqual(address('[::1]:9'), { host: '::1', port: 9 });
    assert.equal(address('0'), undefined);
  });
});
