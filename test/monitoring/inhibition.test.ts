/** The inhibition rules on a real Alertmanager: of the alerts that one cause fires, which does it send? */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from '../../hack/controlplane/ports.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { toolPath } from '../../hack/tools/tools.ts';
import { alertRules } from './alertRules.ts';
import { inhibitRulesOfOperator } from './inhibitRules.ts';

interface Case {
  readonly what: string;
  /** `ALERT`, or `ALERT/severity` if it has several, by pool; `-` for alerts without one. */
  readonly fire: Readonly<Record<string, readonly string[]>>;
  /** Those that are sent. */
  readonly sent: Readonly<Record<string, readonly string[]>>;
  /** The label `reason` of an alert, if it differs from the others. */
  readonly reasons?: Readonly<Record<string, string>>;
}

const cases: readonly Case[] = [
  {
    what: 'a pool that was Ready, whose node group was deleted and cannot be created again',
    fire: {
      web: ['NotReady/critical', 'NodeGroupCreateFailed', 'PrerequisitesNotMet', 'StatusStale'],
      db: ['NodeGroupCreateFailed'],
    },
    sent: { web: ['NotReady/critical', 'StatusStale'], db: ['NodeGroupCreateFailed'] },
  },
  {
    what: 'a new pool, whose creation failed for a prerequisite',
    fire: { web: ['NodeGroupCreateFailed', 'Stalled', 'PrerequisitesNotMet'] },
    sent: { web: ['NodeGroupCreateFailed'] },
  },
  {
    what: 'a new pool, whose prerequisites are not met',
    fire: { web: ['CreationStuck', 'Stalled', 'PrerequisitesNotMet'] },
    sent: { web: ['Stalled'] },
  },
  {
    what: 'a pool that is Stalled for another reason than its prerequisites',
    fire: { web: ['Stalled', 'PrerequisitesNotMet'] },
    reasons: { PrerequisitesNotMet: 'NoLinuxNode' },
    sent: { web: ['Stalled', 'PrerequisitesNotMet'] },
  },
  {
    what: 'a pool for which EC2 has no capacity, and another pool that lacks a node',
    fire: { web: ['NodeGroupHealthIssue', 'NodeGroupDegraded', 'NodesMissing'], db: ['NodesMissing'] },
    sent: { web: ['NodeGroupHealthIssue'], db: ['NodesMissing'] },
  },
  {
    what: 'an old AMI release that becomes private',
    fire: { web: ['AmiNearEnd', 'ReleaseOld'] },
    sent: { web: ['AmiNearEnd'] },
  },
  {
    what: 'an operator that cannot watch the pools',
    fire: { '-': ['OperatorCacheStale'], web: ['StatusStale'] },
    sent: { '-': ['OperatorCacheStale'], web: [] },
  },
  {
    what: 'a pool that lacks capacity while AWS throttles the operator',
    fire: { '-': ['OperatorThrottled', 'OperatorDown/warning'], web: ['NotReady/critical', 'DrainStuck'] },
    sent: { '-': ['OperatorThrottled', 'OperatorDown/warning'], web: ['NotReady/critical'] },
  },
];

type Labels = Readonly<Record<string, string>>;

describe('the inhibition rules on a real Alertmanager', function () {
  // Alertmanager may have to be built.
  this.timeout(900_000);
  let folder: string;
  let child: ChildProcess;
  let url: string;
  let log = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-alertmanager-'));
    const config = join(folder, 'alertmanager.yaml');
    const none = { route: { receiver: 'none' }, receivers: [{ name: 'none' }] };
    await writeFile(config, stringify({ ...none, inhibit_rules: inhibitRulesOfOperator }));
    const address = `127.0.0.1:${await freePort()}`;
    const options = { 'config.file': config, 'storage.path': folder, 'web.listen-address': address };
    const flags = Object.entries({ ...options, 'cluster.listen-address': '' }).map(
      ([name, value]) => `--${name}=${value}`,
    );
    child = spawn(await toolPath('alertmanager', (line) => console.log(`    ${line}`)), flags, {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr?.on('data', (text) => {
      log = `${log}${text}`.slice(-4_000);
    });
    url = `http://${address}`;
    await waitFor(
      async () => (await fetch(`${url}/-/ready`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined))?.ok,
      { what: 'Alertmanager', explain: () => log },
    );
  });
  after(async () => {
    if (child?.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit', { signal: AbortSignal.timeout(20_000) });
    }
    await rm(folder, { recursive: true, force: true });
  });

  async function post(alerts: readonly Labels[], endsAt?: string): Promise<void> {
    const body = JSON.stringify(alerts.map((labels) => ({ labels, ...(endsAt && { endsAt }) })));
    const headers = { 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(10_000);
    const response = await fetch(`${url}/api/v2/alerts`, { method: 'POST', headers, body, signal });
    assert.ok(response.ok, await response.text());
  }

  async function read(query = ''): Promise<string[]> {
    const response = await fetch(`${url}/api/v2/alerts?${query}`, { signal: AbortSignal.timeout(10_000) });
    const alerts = (await response.json()) as { labels: Labels }[];
    return alerts.map(({ labels }) => nameOf(labels)).sort();
  }

  for (const one of cases) {
    it(`${one.what}: sends ${Object.values(one.sent).flat().join(', ')}`, async () => {
      const fired = labelsOf(one.fire, one.reasons);
      await post(fired);
      const known = fired.map(nameOf).sort();
      await waitFor(async () => (await read()).length === known.length, { what: 'the alerts', explain: () => log });
      assert.deepEqual(await read(), known);
      assert.deepEqual(await read('inhibited=false'), labelsOf(one.sent).map(nameOf).sort());
      await post(fired, new Date().toISOString());
      await waitFor(async () => (await read()).length === 0, { what: 'no alerts', explain: () => log });
    });
  }

  it('apply only to alerts of the namespace of the operator', async () => {
    const fired = labelsOf({ web: ['AmiNearEnd', 'ReleaseOld'] }).map((labels) => ({ ...labels, namespace: 'shop' }));
    await post(fired);
    assert.deepEqual(await read('inhibited=false'), ['web/AmiNearEnd', 'web/ReleaseOld']);
  });
});

/** The labels of the alerts as Prometheus sends them. Fails if there is no rule for an alert. */
function labelsOf(byPool: Case['fire'], reasons: Case['reasons'] = {}): Labels[] {
  return Object.entries(byPool).flatMap(([pool, names]) =>
    names.map((entry) => {
      const [name = '', severity] = entry.split('/');
      const rules = alertRules.filter(({ alert }) => alert === `WindowsPool${name}`);
      const rule = rules.find(({ labels }) => severity === undefined || labels?.severity === severity);
      assert.ok(rule, `There is no alert ${entry}.`);
      const reason = /reason/.test(rule.expr) ? (reasons[name] ?? 'WindowsIPAMDisabled') : undefined;
      return {
        alertname: rule.alert,
        severity: rule.labels?.severity ?? '',
        cluster: 'prod',
        namespace: 'winpool-system',
        ...(pool !== '-' && { pool }),
        ...(reason && { reason }),
      };
    }),
  );
}

function nameOf({ alertname = '', pool = '-' }: Labels): string {
  return `${pool}/${alertname.slice('WindowsPool'.length)}`;
}
