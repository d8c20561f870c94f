/** `make demo-argocd`: Argo CD installs the operator and a pool from a Git repository, and a commit becomes nodes. */
import { waitFor } from '../controlplane/wait.ts';
import { type DemoOutput, runDemo } from '../demo.ts';
import { type Application, ARGOCD_NAMESPACE } from './argoCd.ts';
import { GitOps, isSynced, POOL, startCluster, startInstalledOperator } from './gitOps.ts';

const CLUSTER = 'demo';
const APPLICATION = `windows-pools-${CLUSTER}`;

await runDemo(demo);

async function demo({ say, stage }: DemoOutput, signal: AbortSignal): Promise<void> {
  stage('Starting Kubernetes 1.36 and a local AWS');
  const world = await startCluster(CLUSTER, say, signal);
  try {
    stage('Starting Argo CD, with a Git repository that contains config/ and crds/');
    await using gitOps = await GitOps.start(world, say, signal);
    await gitOps.applySettings();
    await gitOps.addWorkload();
    await gitOps.register(CLUSTER, world);

    stage('Applying config/argocd/applicationset.yaml: wave 0 is the operator, wave 1 the pool, wave 2 pods for it');
    await gitOps.applyApplicationSet();
    await Promise.all([startInstalledOperator(world), follow(say, gitOps, signal, isSynced)]);
    say(await world.kubectl('get', 'windowspools,deployments,pods', '--all-namespaces'));

    stage('Pushing a commit that raises minSize to 3');
    await gitOps.commitPool('Raise minSize to 3', (spec) => {
      spec.nodeGroup.scaling = { minSize: 3, maxSize: 4 };
    });
    await gitOps.argo.refresh(APPLICATION);
    await follow(say, gitOps, signal, async (application) => {
      const pool = await world.pool(POOL);
      return isSynced(application) && pool?.status?.summary?.verified === '3/3';
    });
    say(await world.kubectl('-n', ARGOCD_NAMESPACE, 'get', 'applications'));
    say(await world.kubectl('get', 'windowspools'));
    say(await world.kubectl('get', 'nodes', '--label-columns', 'node.kubernetes.io/windows-build'));
    stage('Stopping everything');
  } finally {
    await world.stop();
  }
}

/** Prints each change of what Argo CD shows, until the predicate is true. */
async function follow(
  say: DemoOutput['say'],
  gitOps: GitOps,
  signal: AbortSignal,
  until: (application: Application) => boolean | Promise<boolean>,
): Promise<void> {
  let last = '';
  await waitFor(
    async () => {
      const application = await gitOps.argo.application(APPLICATION);
      if (!application) return false;
      const { sync, health } = application.status ?? {};
      const pool = await gitOps.poolHealth(APPLICATION).catch(() => 'none');
      const line = `Application: ${sync?.status || 'Unknown'}, ${health?.status || 'Unknown'}; pool: ${pool}`;
      if (line !== last) say(line);
      last = line;
      return until(application);
    },
    {
      what: 'the Application to be Synced and Healthy',
      timeoutMs: 120_000,
      intervalMs: 200,
      signal,
      explain: () => last,
    },
  );
}
