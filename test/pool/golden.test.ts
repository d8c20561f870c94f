import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { windowsIpam } from '../fakes/testenv/testEnv.ts';
import { assertGolden, normalized } from '../goldenText.ts';
import { freezeAws, withOperator } from '../sharedWorld.ts';

/** The release before the newest one. */
const OLDER = '1.36-2026.03.17';
const SAMPLE = new URL('../../config/samples/windowspool.yaml', import.meta.url);

describe('the output of kubectl', () => {
  const fixture = withOperator();
  let sample: { readonly metadata: object; readonly spec: { readonly nodeGroup: object } };

  before(async () => {
    sample = parse(await readFile(SAMPLE, 'utf8'));
    // The one of the previous suite may still be terminating, and would be shared instead of created.
    await waitFor(async () => (await fixture.world.get('runtimeclass', 'windows-2022')) === undefined, {
      what: 'RuntimeClass windows-2022 to be gone',
    });
  });

  const apply = (name: string, change: object = {}) =>
    fixture.world.apply({ ...sample, ...change, metadata: { name } });
  const becomes = (name: string, type: string, state: string) =>
    fixture.world.waitForConditions(name, `${type}=${state}`);

  /** Waits until a pool is Ready and EKS has created its group: nodes can be verified before EKS reports the group as ACTIVE. */
  async function isCreated(name: string): Promise<void> {
    await becomes(name, 'Ready', 'True/EnoughNodesVerified');
    await becomes(name, 'UpToDate', 'True/MatchesSpec');
  }

  /** The commands and their output, once the last of them contains all the words. */
  async function show(commands: readonly string[], ...words: readonly string[]): Promise<string> {
    let text = '';
    const complete = async () => {
      const parts: string[] = [];
      for (const command of commands) {
        const printed = await fixture.world.kubectl(...command.split(' '));
        parts.push(`$ kubectl ${command}\n${normalized(printed)}`);
      }
      text = parts.join('\n');
      return words.every((word) => parts.at(-1)?.includes(word)) && text;
    };
    return waitFor(complete, { what: `${words.join(', ')} to be shown`, explain: () => text });
  }

  const commandsFor = (name: string) => [`get wp ${name}`, `get wp ${name} -o wide`, `describe wp ${name}`];

  it('for a healthy pool', async () => {
    await apply('web');
    await fixture.world.kubectl('wait', '--for=condition=Ready', 'windowspool/web', '--timeout=30s');
    await isCreated('web');
    await assertGolden('healthy', await show(commandsFor('web'), '  EnoughNodesVerified  '));
  });

  it('for a pool that is not Ready because a node has another build', async () => {
    await apply('billing');
    await isCreated('billing');
    await show(['describe wp billing'], '  EnoughNodesVerified  ');
    const member = 'eks.amazonaws.com/nodegroup=billing';
    const [node = ''] = (
      await fixture.world.kubectl('get', 'nodes', '-l', member, '-o', 'jsonpath={.items[*].metadata.name}')
    ).split(' ');
    fixture.world.cloud.faults.patchKernel({ node, build: '10.0.17763' });
    await becomes('billing', 'Ready', 'False/WrongBuild');
    await assertGolden(
      'wrong-build',
      await show(commandsFor('billing'), '  1 of 2 required nodes', '  1 of 2 nodes failed'),
    );
  });

  it('for a pool whose node group EKS could not create', async () => {
    const issues = [
      { code: 'NodeCreationFailure' as const, message: 'Instances failed to join the cluster', resourceIds: ['i-1'] },
    ];
    fixture.world.cloud.faults.createFailure({ group: 'reports', issues });
    await apply('reports');
    await becomes('reports', 'NodeGroupReady', 'False/CreateFailed');
    await becomes('reports', 'RuntimeClassReady', 'True/Available');
    await assertGolden('create-failed', await show(commandsFor('reports'), '  CreateFailed  '));
  });

  it('for a Ready pool whose update failed because of a PodDisruptionBudget', async () => {
    const old = fixture.world.cloud.state.groups.get('web')?.nodegroup.releaseVersion;
    await apply('search', { spec: { ...sample.spec, nodeGroup: { ...sample.spec.nodeGroup, releaseVersion: OLDER } } });
    await becomes('search', 'Ready', 'True/EnoughNodesVerified');
    await show(['describe wp search'], '  UpdateAvailable  ');
    fixture.world.cloud.faults.blockDrain({ group: 'search' });
    await fixture.world.patchPool('search', { nodeGroup: { releaseVersion: old } });
    await becomes('search', 'NodeGroupReady', 'False/UpdateFailed');
    await assertGolden('update-failed', await show(commandsFor('search'), '  UpdateFailed  '));
  });

  it('for a pool whose RuntimeClass exists and has another handler', async () => {
    await fixture.world.apply({
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: 'windows-2025' },
      handler: 'docker',
      scheduling: { nodeSelector: { 'kubernetes.io/os': 'windows' } },
    });
    await apply('guest', { spec: { ...sample.spec, windowsVersion: 'Windows2025' } });
    await becomes('guest', 'NodesVerified', 'True/AllVerified');
    await becomes('guest', 'UpToDate', 'True/MatchesSpec');
    await assertGolden(
      'foreign-runtime-class',
      await show(commandsFor('guest'), '  NodeGroupCreated  ', '  NotOwned  '),
    );
    await fixture.world.kubectl('delete', 'windowspool', 'guest', '--timeout=30s');
    await fixture.world.kubectl('delete', 'runtimeclass', 'windows-2025');
  });

  it('for a pool with a missing node', async () => {
    await apply('shop');
    await isCreated('shop');
    // Only now: nodes that take longer to join on a busy machine would be reported, too.
    await fixture.operator.stop();
    await fixture.restart('--join-grace=2s');
    fixture.world.cloud.faults.nextNode({ group: 'shop', neverJoins: true });
    await fixture.world.patchPool('shop', { nodeGroup: { scaling: { minSize: 3 } } });
    await becomes('shop', 'NodesVerified', 'False/NodesMissing');
    await becomes('shop', 'UpToDate', 'True/MatchesSpec');
    await assertGolden('nodes-missing', await show(commandsFor('shop'), '  NodesMissing  '));
  });

  it('for a pool that lacks an AWS permission', async () => {
    fixture.world.cloud.faults.removeAction({ action: 'eks:CreateNodegroup' });
    await apply('denied');
    await becomes('denied', 'NodeGroupReady', 'False/AccessDenied');
    await becomes('denied', 'RuntimeClassReady', 'True/Available');
    await assertGolden('denied', await show(commandsFor('denied'), '  AccessDenied  '));
    fixture.world.cloud.faults.restoreAction({ action: 'eks:CreateNodegroup' });
  });

  it('for a pool whose node group has another owner', async () => {
    fixture.world.cloud.faults.consoleCreate({
      nodegroupName: 'legacy',
      nodeRole: 'arn:aws:iam::111122223333:role/windows-nodes',
      subnets: ['subnet-0a1000000000000aa'],
      amiType: 'WINDOWS_CORE_2022_x86_64',
      instanceTypes: ['m5.large'],
      scalingConfig: { minSize: 0, maxSize: 1, desiredSize: 0 },
    });
    await waitFor(() => fixture.world.cloud.state.groups.get('legacy')?.nodegroup.status === 'ACTIVE', {
      what: 'the group of the other owner',
    });
    await apply('legacy');
    await becomes('legacy', 'Stalled', 'True/NotOwned');
    await becomes('legacy', 'RuntimeClassReady', 'True/Available');
    await assertGolden('not-owned', await show(commandsFor('legacy'), '  NotOwned  '));
    fixture.world.cloud.faults.consoleDelete({ group: 'legacy' });
  });

  it('for a pool without a node group, because three prerequisites are not met', async () => {
    const { world } = fixture;
    const linux = ['-l', 'kubernetes.io/os=linux'];
    world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
    await world.apply(windowsIpam(false));
    await world.kubectl('cordon', ...linux);
    try {
      await apply('early');
      await becomes('early', 'PrerequisitesMet', 'False/NoLinuxNode');
      await becomes('early', 'RuntimeClassReady', 'True/Available');
      await assertGolden('prerequisites', await show(commandsFor('early'), '  NoLinuxNode  '));
    } finally {
      world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
      await world.apply(windowsIpam(true));
      await world.kubectl('uncordon', ...linux);
      await world.kubectl('delete', 'windowspool', 'early', '--timeout=30s');
    }
  });

  it('for a pool that EKS is creating, and for all pools', async () => {
    const restoreSpeed = freezeAws(fixture.world);
    try {
      await apply('batch');
      await becomes('batch', 'NodeGroupReady', 'False/Creating');
      await becomes('batch', 'RuntimeClassReady', 'True/Available');
      await assertGolden('creating', await show(commandsFor('batch'), 'NodeGroupCreated'));
      await assertGolden('all', await show(['get wp', 'get wp -o wide']));
    } finally {
      restoreSpeed();
    }
  });

  it('for the explanation of every field', async () => {
    const commands = ['explain windowspool', 'explain windowspool.spec --recursive', 'explain windowspool.spec'];
    await assertGolden('explain', await show(commands));
  });

  const typos: readonly (readonly [what: string, spec: object, flags: readonly string[], words: string])[] = [
    ['from the client', { scalling: {} }, ['--validate=strict'], 'unknown field "spec.scalling"'],
    ['from the server', { scalling: {} }, ['--server-side'], '.spec.scalling: field not declared in schema'],
  ];
  for (const [what, spec, flags, words] of typos) {
    it(`for an apply with an unknown field: ${what}`, async () => {
      const typo = { ...sample, metadata: { name: 'typo' }, spec: { ...sample.spec, ...spec } };
      await assert.rejects(fixture.world.apply(typo, ...flags), (error: Error) => error.message.includes(words));
    });
  }
});

describe('normalized output of kubectl', () => {
  const cases: readonly (readonly [what: string, text: string, plain: string])[] = [
    ['an age at the end of a line', 'web    2/2     103s', 'web    2/2     0s'],
    ['an age before other columns', 'web    17s   EnoughNodesVerified   web', 'web    0s    EnoughNodesVerified   web'],
    ['the header of a column with a long age', 'AGE     REASON', 'AGE   REASON'],
    [
      'an age that is wider than its column, before an empty column',
      'NAME   AGE     RELEASE   UPTODATE\nweb    2m15s             Pending',
      'NAME   AGE   RELEASE   UPTODATE\nweb    0s              Pending',
    ],
    ['the same node twice', 'ip-10-0-2-9 ip-10-0-1-7.x ip-10-0-2-9', 'ip-10-0-0-1 ip-10-0-0-2.x ip-10-0-0-1'],
    ['the time of the next attempt', 'Next attempt at 06:47Z;', 'Next attempt at HH:MMZ;'],
    ['the id of an instance', '--target i-0123456789abcdef0', '--target i-INSTANCE'],
    ['a time', 'Creation Timestamp:  2026-11-21T12:48:38Z', 'Creation Timestamp:  TIME'],
    ['a quantity that is not an age', '10.0.20348.5020   1.36-2026.04.18', '10.0.20348.5020   1.36-2026.04.18'],
  ];
  for (const [what, text, plain] of cases) {
    it(`replaces ${what}`, () => assert.equal(normalized(text), `${plain}\n`));
  }
});
