/** The report of a run: its calls and results, without identities. */
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import type { NotedCall } from './aws.ts';
import { Redactor } from './redact.ts';
import type { Outcome, Run } from './run.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** The report as a value, with ids and secrets removed. */
export function reportOf(run: Run, outcome: Outcome, startedAt: Date): object {
  const { settings, facts, answers, aws, pool } = run;
  const names = {
    [settings.clusterName]: '<cluster>',
    [facts?.roleArn.split('/').at(-1) ?? '']: '<node-role>',
    [settings.nodeRole]: '<node-role>',
    [settings.account]: '<account>',
    [pool]: '<pool>',
    [ROOT]: '<checkout>',
    [homedir()]: '<home>',
    ...Object.fromEntries(run.names),
    [settings.operatorProfile ?? '']: '<profile>',
  };
  const { cluster } = facts ?? {};
  return new Redactor(names).value({
    version: manifest.version,
    mode: settings.readOnly ? 'read-only' : settings.machine ? 'machine' : 'life of one pool',
    outcome: outcome.state,
    startedAt: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1_000),
    asked: {
      region: settings.region,
      windowsVersion: settings.windowsVersion,
      instanceType: settings.instanceType,
      subnets: settings.subnets.length,
      operatorCredentials: settings.operatorProfile === undefined ? "the caller's" : 'a profile',
    },
    cluster: cluster && {
      kubernetesVersion: cluster.version,
      platformVersion: cluster.platformVersion,
      authenticationMode: cluster.accessConfig?.authenticationMode,
      ipFamily: cluster.kubernetesNetworkConfig?.ipFamily,
      autoMode: cluster.computeConfig?.enabled === true,
      releases: facts?.releases,
      newestInSsm: facts?.newest,
    },
    steps: outcome.steps,
    answers: answers.all(),
    calls: countCalls(aws.calls),
    left: outcome.left,
    kept: outcome.kept,
  });
}

/** Calls of the same form are one line with their number. */
function countCalls(calls: readonly NotedCall[]): object[] {
  const counted = new Map<
    string,
    { call: Omit<NotedCall, 'milliseconds'>; count: number; slowestMilliseconds: number }
  >();
  for (const { milliseconds, ...call } of calls) {
    const key = JSON.stringify(call);
    const seen = counted.get(key) ?? { call, count: 0, slowestMilliseconds: 0 };
    seen.count += 1;
    seen.slowestMilliseconds = Math.max(seen.slowestMilliseconds, milliseconds);
    counted.set(key, seen);
  }
  return [...counted.values()].map(({ call, count, slowestMilliseconds }) => ({ ...call, count, slowestMilliseconds }));
}

/** Writes the report. */
export async function writeReport(path: string, report: object): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(report, undefined, 2)}\n`);
}
