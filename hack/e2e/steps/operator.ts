/** Installs missing objects of the operator in Kubernetes, and runs the bundle with its ServiceAccount. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OperatorProcess } from '../../../test/fakes/testenv/operatorProcess.ts';
import { operatorEntry } from '../../operatorBundle.ts';
import { mixtureError } from '../checks.ts';
import { poolNames } from '../pool.ts';
import { longestMs, type Run, type Step, stopOperator, timeoutOf } from '../run.ts';
import type { Settings } from '../settings.ts';
import { NAMESPACE, OPERATOR } from './preflight.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MINUTE = 60_000;
/** EKS issues tokens for at most a day: https://docs.aws.amazon.com/eks/latest/userguide/service-accounts.html */
const MAX_TOKEN_SECONDS = 24 * 60 * 60;
/** Kubernetes refuses to issue them for less: ValidateTokenRequest in k8s.io/kubernetes/pkg/apis/authentication/validation. */
const MIN_TOKEN_SECONDS = 10 * 60;

/** The installed parts, in this order. The objects of a part exist together or not at all. */
const PARTS: readonly { readonly what: string; readonly source: readonly string[]; readonly isCrd?: true }[] = [
  { what: 'the CRD', source: ['--filename', join(ROOT, 'crds/windowspools.yaml')], isCrd: true },
  { what: `namespace ${NAMESPACE}`, source: ['--filename', join(ROOT, 'config/manager/namespace.yaml')] },
  {
    what: "the operator's ServiceAccount and roles, and the namespace of its pods on nodes",
    source: ['--kustomize', join(ROOT, 'config/rbac')],
  },
];
const REMOVE_PART_MS = 5 * MINUTE;

export const install: Step = {
  name: 'Install the CRD and the permissions of the operator, where they are missing',
  timeoutMs: 3 * MINUTE,
  cleanupMs: PARTS.length * REMOVE_PART_MS,
  run: async (run, signal) => {
    const missing = await missingParts(run, signal);
    for (const { what, source, isCrd } of missing) {
      const remove = ['delete', ...source, '--ignore-not-found', '--wait=true'];
      run.cleanup.note({
        what,
        timeoutMs: timeoutOf(run, REMOVE_PART_MS),
        commands: [run.kubectl.commandLine(remove)],
        remove: async (bound) => {
          await stopOperator(run);
          if (isCrd) await checkNoPools(run, bound);
          await run.kubectl.run(remove, { signal: bound, timeoutMs: REMOVE_PART_MS });
        },
      });
      await run.kubectl.run(['apply', ...source], { signal });
      if (isCrd)
        await run.kubectl.run(['wait', '--for=condition=Established', ...source, '--timeout=60s'], {
          signal,
          timeoutMs: 90_000,
        });
    }
  },
};

/** The parts that do not exist. Throws before the first change if one exists only partly. */
async function missingParts({ kubectl, say }: Run, signal: AbortSignal): Promise<typeof PARTS> {
  const objects = async (args: readonly string[]) =>
    (await kubectl.run([...args, '--output=name'], { signal })).split('\n').filter(Boolean);
  const missing = [];
  for (const part of PARTS) {
    const existing = await objects(['get', ...part.source, '--ignore-not-found']);
    const error = mixtureError(part.what, await objects(['apply', ...part.source, '--dry-run=client']), existing);
    if (error !== undefined) throw new Error(error);
    if (existing.length === 0) missing.push(part);
    else say(`${part.what}: exists, is used, and is not removed`);
  }
  return missing;
}

/** Deleting the CRD deletes all pools, and without an operator the deletion of a pool never ends: if other users have pools, the CRD is kept. */
async function checkNoPools(run: Run, signal: AbortSignal): Promise<void> {
  const pools = await poolNames(run, signal);
  if (pools.length > 0) throw new Error(`WindowsPools exist: ${pools.join(', ')}. Delete them first.`);
}

export const operator: Step = {
  name: 'Start the operator from the bundle, under its ServiceAccount',
  // The bundle is built if it does not exist.
  timeoutMs: 20 * MINUTE,
  run: async (run, signal) => {
    const entry = await operatorEntry();
    const credentials = join(run.folder, 'operator-kubeconfig');
    await writeFile(credentials, await kubeconfig(run, signal), { mode: 0o600 });
    const { settings } = run;
    run.operator = new OperatorProcess({
      credentials,
      entry,
      clusterName: settings.clusterName,
      region: settings.region,
      environment: operatorEnvironment(settings),
      // It must survive the first Ctrl-C, because it deletes its pool.
      ownGroup: true,
      flags: ['--resync-interval=1m', ...settings.operatorFlags],
    });
    await run.operator.ready();
  },
};

/** The caller's environment, with the operator's profile instead of the caller's credentials if there is one. */
function operatorEnvironment({ operatorProfile }: Settings): NodeJS.ProcessEnv {
  if (operatorProfile === undefined) return process.env;
  const { AWS_ACCESS_KEY_ID: _, AWS_SECRET_ACCESS_KEY: __, AWS_SESSION_TOKEN: ___, ...rest } = process.env;
  return { ...rest, AWS_PROFILE: operatorProfile };
}

/** The kubeconfig of the run with a token of the ServiceAccount instead of the caller's credentials. */
async function kubeconfig(run: Run, signal: AbortSignal): Promise<string> {
  const { clusters = [] } = run.kubectl.config ?? {};
  const seconds = Math.min(MAX_TOKEN_SECONDS, Math.max(MIN_TOKEN_SECONDS, Math.ceil(longestMs(run) / 1_000)));
  const args = ['create', 'token', OPERATOR, `--namespace=${NAMESPACE}`, `--duration=${seconds}s`];
  const token = (await run.kubectl.run(args, { signal })).trim();
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters,
    users: [{ name: OPERATOR, user: { token } }],
    contexts: [{ name: OPERATOR, context: { cluster: clusters[0]?.name, user: OPERATOR } }],
    'current-context': OPERATOR,
  });
}
