/** Installs what the operator needs in Kubernetes, where it is missing, and runs the bundle under its ServiceAccount. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operatorEntry } from '../../operatorBundle.ts';
import { OperatorProcess } from '../../world/operatorProcess.ts';
import { type Run, type Step, timeoutOf } from '../run.ts';
import type { Settings } from '../settings.ts';
import { NAMESPACE, OPERATOR } from './preflight.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MINUTE = 60_000;
/** EKS issues tokens for up to a day; a run takes less. */
const TOKEN_DURATION = '12h';

/** What is installed, in this order: what shows that it exists, and how it is applied. */
const PARTS: readonly {
  readonly what: string;
  readonly kind: string;
  readonly name: string;
  readonly flags: readonly string[];
  readonly source: readonly string[];
}[] = [
  {
    what: 'the CRD',
    kind: 'crd',
    name: 'windowspools.winpool.dev',
    flags: [],
    source: ['--filename', join(ROOT, 'crds/windowspools.yaml')],
  },
  {
    what: `namespace ${NAMESPACE}`,
    kind: 'namespace',
    name: NAMESPACE,
    flags: [],
    source: ['--filename', join(ROOT, 'config/manager/namespace.yaml')],
  },
  {
    what: "the operator's ServiceAccount and roles",
    kind: 'serviceaccount',
    name: OPERATOR,
    flags: [`--namespace=${NAMESPACE}`],
    source: ['--kustomize', join(ROOT, 'config/rbac')],
  },
];

export const install: Step = {
  name: 'Install the CRD and the permissions of the operator, where they are missing',
  timeoutMs: 3 * MINUTE,
  run: async (run, signal) => {
    const { kubectl, cleanup, say } = run;
    for (const { what, kind, name, flags, source } of PARTS) {
      if (await kubectl.get(kind, name, flags, signal)) {
        say(`${what}: exists, is used and stays`);
        continue;
      }
      const remove = ['delete', ...source, '--ignore-not-found', '--wait=true'];
      cleanup.note({
        what,
        timeoutMs: timeoutOf(run, 5 * MINUTE),
        commands: [`kubectl ${remove.join(' ')}`],
        remove: async (bound) => {
          if (kind === 'crd') await checkNoPools(run, bound);
          await kubectl.run(remove, { signal: bound, timeoutMs: 10 * MINUTE });
        },
      });
      await kubectl.run(['apply', ...source], { signal });
      if (kind === 'crd')
        await kubectl.run(['wait', '--for=condition=Established', `${kind}/${name}`, '--timeout=60s'], {
          signal,
          timeoutMs: 90_000,
        });
    }
  },
};

/** Deleting the CRD deletes all pools, and without an operator they never end: those of other users keep it. */
async function checkNoPools({ kubectl }: Run, signal: AbortSignal): Promise<void> {
  const pools = await kubectl.run(['get', 'windowspools.winpool.dev', '--output=name', '--ignore-not-found'], {
    signal,
  });
  if (pools.trim() !== '')
    throw new Error(`WindowsPools exist: ${pools.trim().split('\n').join(', ')}. Delete them first.`);
}

export const operator: Step = {
  name: 'Start the operator from the bundle, under its ServiceAccount',
  // The bundle is built where it is not there yet.
  timeoutMs: 20 * MINUTE,
  run: async (run, signal) => {
    const entry = await operatorEntry();
    const folder = await mkdtemp(join(tmpdir(), 'winpool-e2e-'));
    run.cleanup.note({
      what: 'the process of the operator',
      timeoutMs: MINUTE,
      commands: [],
      remove: async () => {
        await run.operator?.stop();
        await rm(folder, { recursive: true, force: true });
      },
    });
    const credentials = join(folder, 'kubeconfig');
    await writeFile(credentials, await kubeconfig(run, signal), { mode: 0o600 });
    const { settings } = run;
    run.operator = new OperatorProcess({
      credentials,
      entry,
      clusterName: settings.clusterName,
      region: settings.region,
      environment: operatorEnvironment(settings),
      // It must outlive Ctrl-C: only the operator can delete its pool.
      ownGroup: true,
      flags: ['--resync-interval=1m', ...settings.operatorFlags],
    });
    await run.operator.ready();
  },
};

/** The caller's environment, with the operator's profile in place of the caller's credentials where there is one. */
function operatorEnvironment({ operatorProfile }: Settings): NodeJS.ProcessEnv {
  if (operatorProfile === undefined) return process.env;
  const { AWS_ACCESS_KEY_ID: _, AWS_SECRET_ACCESS_KEY: __, AWS_SESSION_TOKEN: ___, ...rest } = process.env;
  return { ...rest, AWS_PROFILE: operatorProfile };
}

/** The caller's kubeconfig with a token of the ServiceAccount in place of the caller's credentials. */
async function kubeconfig({ kubectl }: Run, signal: AbortSignal): Promise<string> {
  const view = ['config', 'view', '--minify', '--raw', '--flatten', '--output=json'];
  const { clusters }: { clusters: readonly { name: string }[] } = JSON.parse(await kubectl.run(view, { signal }));
  const args = ['create', 'token', OPERATOR, `--namespace=${NAMESPACE}`, `--duration=${TOKEN_DURATION}`];
  const token = (await kubectl.run(args, { signal })).trim();
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters,
    users: [{ name: OPERATOR, user: { token } }],
    contexts: [{ name: OPERATOR, context: { cluster: clusters[0]?.name, user: OPERATOR } }],
    'current-context': OPERATOR,
  });
}
