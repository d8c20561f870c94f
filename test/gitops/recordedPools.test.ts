import { isDeepStrictEqual } from 'node:util';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { READY, UP_TO_DATE } from '../fakes/testenv/testEnv.ts';
import { assertGolden } from '../goldenText.ts';
import { existingPool, poolManifest } from '../pools.ts';
import { freezeAws, withOperator } from '../sharedWorld.ts';
import { recordingOf } from './recordedPools.ts';

describe('the recorded pools equal those of a cluster', () => {
  const fixture = withOperator('--resync-interval=300ms', '--denied-retry-interval=1s', '--create-retry-interval=10m');
  const faults = () => fixture.world.cloud.faults;
  const patch = (name: string, spec: object) => fixture.world.patchPool(name, spec);
  const becomes = (name: string, ...states: readonly string[]) => fixture.world.waitForConditions(name, ...states);
  const apply = async (name: string, spec: Parameters<typeof poolManifest>[1], ...states: readonly string[]) => {
    await fixture.world.apply(poolManifest(name, spec));
    await becomes(name, ...states);
  };
  const ready = (name: string, spec = {}) => apply(name, spec, READY, UP_TO_DATE);

  /** Compares when the conditions are stable: they were the same after three reconciliations. */
  async function record(name: string, pool = name): Promise<void> {
    let seen: { conditions: object | undefined; times: number } = { conditions: undefined, times: 0 };
    let found: WindowsPool | undefined;
    const isQuiet = async () => {
      found = await fixture.world.pool(pool);
      const conditions = found?.status?.conditions;
      seen = { conditions, times: isDeepStrictEqual(conditions, seen.conditions) ? seen.times + 1 : 0 };
      return seen.times === 6 && found;
    };
    const quiet = await waitFor(isQuiet, { what: `the conditions of ${pool} to be stable`, intervalMs: 150 });
    await assertGolden(`pools/${name}.yaml`, recordingOf(quiet));
  }

  it('ready, with one failing node of many, and with only failing nodes', async () => {
    await ready('web', { nodeGroup: { scaling: { minSize: 1, maxSize: 3, desiredSize: 3 } } });
    await fixture.world.waitForPool('web', 'to have 3 nodes', (pool) => pool?.status?.nodes?.verified === 3);
    await record('ready', 'web');
    const [first = '', ...others] = await fixture.world.nodeNamesOf('web');
    faults().patchKernel({ node: first, build: '10.0.17763' });
    await becomes('web', 'NodesVerified=False/WrongBuild');
    await record('one-bad-node', 'web');
    for (const node of others) faults().patchKernel({ node, build: '10.0.17763' });
    await becomes('web', 'Ready=False/WrongBuild');
    await record('all-nodes-bad', 'web');
  });

  it('creating', async () => {
    const restoreSpeed = freezeAws(fixture.world);
    try {
      await apply('creating', {}, 'Reconciling=True/Creating', 'RuntimeClassReady=True/Available');
      await record('creating');
    } finally {
      restoreSpeed();
    }
  });

  it('updating, drifted, paused, and deleted', async () => {
    await ready('busy', { labels: { tier: 'web' }, nodeGroup: { driftPolicy: 'Report' } });
    const restoreSpeed = freezeAws(fixture.world);
    try {
      await patch('busy', { labels: { tier: 'db' } });
      await becomes('busy', 'Reconciling=True/Updating');
      await record('updating', 'busy');
    } finally {
      restoreSpeed();
    }
    await becomes('busy', 'UpToDate=True/MatchesSpec', 'Reconciling=absent');
    const labels = fixture.world.cloud.state.groups.get('busy')?.nodegroup.labels;
    faults().edit({ group: 'busy', labels: { ...labels, tier: 'cache' } });
    await becomes('busy', 'UpToDate=False/Drifted');
    await record('drifted', 'busy');
    await patch('busy', { paused: true });
    await becomes('busy', 'Paused=True/Paused');
    await record('paused', 'busy');
    await patch('busy', { paused: false });
    await becomes('busy', 'Paused=absent');
    const goOnDeleting = freezeAws(fixture.world);
    try {
      await fixture.world.kubectl('delete', 'windowspool', 'busy', '--wait=false');
      await becomes('busy', 'Ready=False/Deleting');
      await record('deleting', 'busy');
    } finally {
      goOnDeleting();
    }
  });

  it('DEGRADED', async () => {
    await ready('degraded');
    const message = 'One or more security groups in the launch template are not found';
    faults().healthIssue({
      group: 'degraded',
      issues: [{ code: 'Ec2SecurityGroupNotFound', message, resourceIds: ['sg-1'] }],
    });
    await becomes('degraded', 'NodeGroupReady=False/Degraded');
    await record('degraded');
  });

  it('with failed updates and creations, and with a group of another owner', async () => {
    await ready('update-failed');
    const errorMessage = 'Couldn’t proceed with upgrade process';
    faults().updateFailure({ group: 'update-failed', errors: [{ errorCode: 'NodeCreationFailure', errorMessage }] });
    await patch('update-failed', { labels: { tier: 'web' } });
    await becomes('update-failed', 'Stalled=True/UpdateFailed');
    await record('update-failed');
    faults().createFailure({
      group: 'create-failed',
      issues: [
        { code: 'Ec2SubnetInvalidConfiguration', message: 'No route', resourceIds: ['subnet-0a1000000000000aa'] },
      ],
    });
    await apply('create-failed', {}, 'Stalled=True/CreateFailed');
    await record('create-failed');
    faults().consoleCreate({
      nodegroupName: 'foreign',
      nodeRole: 'arn:aws:iam::111122223333:role/windows-nodes',
      subnets: ['subnet-0a1000000000000aa'],
      amiType: 'WINDOWS_CORE_2022_x86_64',
      instanceTypes: ['m5.large'],
      scalingConfig: { minSize: 0, maxSize: 1, desiredSize: 0 },
    });
    try {
      await apply('foreign', {}, 'Stalled=True/NotOwned', 'RuntimeClassReady=True/Available');
      await record('not-owned', 'foreign');
    } finally {
      faults().consoleDelete({ group: 'foreign' });
    }
  });

  it('waiting for a prerequisite or a permission', async () => {
    const linux = ['-l', 'kubernetes.io/os=linux'];
    await ready('prerequisite-lost');
    await fixture.world.kubectl('cordon', ...linux);
    try {
      await becomes('prerequisite-lost', 'PrerequisitesMet=False/NoLinuxNode', 'Ready=True/EnoughNodesVerified');
      await record('prerequisite-lost');
      await apply('early', {}, 'PrerequisitesMet=False/NoLinuxNode', 'RuntimeClassReady=True/Available');
      await record('no-linux-node', 'early');
    } finally {
      await fixture.world.kubectl('uncordon', ...linux);
    }
    faults().removeAction({ action: 'eks:CreateNodegroup' });
    try {
      await apply('denied', {}, 'NodeGroupReady=False/AccessDenied', 'RuntimeClassReady=True/Available');
      await record('access-denied', 'denied');
    } finally {
      faults().restoreAction({});
    }
  });

  it('with existing nodes that do not exist', async () => {
    await fixture.world.apply(existingPool('nobody', { matchLabels: { rack: 'none' } }));
    await becomes('nobody', 'Ready=False/NoNodesFound');
    await record('no-existing-nodes', 'nobody');
  });

  it('with desired size 0', async () => {
    await apply('empty', { nodeGroup: { scaling: { minSize: 0 } } }, 'Ready=True/NoNodes', 'UpToDate=True/MatchesSpec');
    await record('no-nodes', 'empty');
  });

  it('not reconciled yet', async () => {
    await ready('known');
    await fixture.operator.stop();
    try {
      await patch('known', { nodeGroup: { scaling: { maxSize: 5 } } });
      await record('changed-unseen', 'known');
      await fixture.world.apply(poolManifest('unseen'));
      await record('unseen');
    } finally {
      await fixture.restart();
    }
  });
});
