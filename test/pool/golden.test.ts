import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, windowsIpam } from '../../hack/testenv/testEnv.ts';
import { assertGolden, withoutChance } from '../goldenText.ts';
import { slowed, withOperator } from '../sharedWorld.ts';

const SAMPLE = new URL('../../config/samples/windowspool.yaml', import.meta.url);

describe('what kubectl shows', () => {
  const stage = withOperator();
  let sample: { readonly metadata: object; readonly spec: object };

  before(async () => {
    sample = parse(await readFile(SAMPLE, 'utf8'));
    // The one of the suite before may still be on its way out, and would be shared instead of made.
    await waitFor(async () => (await stage.world.get('runtimeclass', 'windows-2022')) === undefined, {
      what: 'no RuntimeClass windows-2022 to be there',
      timeoutMs: 30_000,
    });
  });

  const apply = (name: string, change: object = {}) => stage.world.apply({ ...sample, ...change, metadata: { name } });
  const becomes = (name: string, type: string, state: string) =>
    stage.world.waitForPool(name, `to have ${type}=${state}`, (pool) => conditionOf(pool, type) === state);

  /** The commands and what they print, once the last of them has all the words. */
  async function show(commands: readonly string[], ...words: readonly string[]): Promise<string> {
    let text = '';
    const complete = async () => {
      const parts: string[] = [];
      for (const command of commands) {
        const printed = await stage.world.kubectl(...command.split(' '));
        parts.push(`$ kubectl ${command}\n${withoutChance(printed)}`);
      }
      text = parts.join('\n');
      return words.every((word) => parts.at(-1)?.includes(word)) && text;
    };
    return waitFor(complete, { what: `${words.join(', ')} to be shown`, timeoutMs: 60_000, explain: () => text });
  }

  const looks = (name: string) => [`get wp ${name}`, `get wp ${name} -o wide`, `describe wp ${name}`];

  it('a healthy pool', async () => {
    await apply('web');
    await stage.world.kubectl('wait', '--for=condition=Ready', 'windowspool/web', '--timeout=30s');
    await assertGolden('healthy', await show(looks('web'), '  Verified  '));
  });

  it('a pool that is not Ready because a node has another build', async () => {
    await apply('billing');
    await becomes('billing', 'Ready', 'True/Verified');
    await show(['describe wp billing'], '  Verified  ');
    const member = 'eks.amazonaws.com/nodegroup=billing';
    const [node = ''] = (
      await stage.world.kubectl('get', 'nodes', '-l', member, '-o', 'jsonpath={.items[*].metadata.name}')
    ).split(' ');
    stage.world.cloud.faults.patchKernel({ node, build: '10.0.17763' });
    await becomes('billing', 'Ready', 'False/WrongBuild');
    await assertGolden('wrong-build', await show(looks('billing'), '  1 node of the 2', '  1 of 2 nodes fails'));
  });

  it('a pool whose node group somebody else has made', async () => {
    stage.world.cloud.faults.consoleCreate({
      nodegroupName: 'legacy',
      nodeRole: 'arn:aws:iam::111122223333:role/windows-nodes',
      subnets: ['subnet-0a1000000000000aa'],
      amiType: 'WINDOWS_CORE_2022_x86_64',
      instanceTypes: ['m5.large'],
      scalingConfig: { minSize: 0, maxSize: 1, desiredSize: 0 },
    });
    await waitFor(() => stage.world.cloud.state.groups.get('legacy')?.nodegroup.status === 'ACTIVE', {
      what: 'the group of somebody else',
      timeoutMs: 60_000,
    });
    await apply('legacy');
    await becomes('legacy', 'Stalled', 'True/NotOwned');
    await becomes('legacy', 'RuntimeClassReady', 'True/Available');
    await assertGolden('not-owned', await show(looks('legacy'), '  NotOwned  ', 'RuntimeClassApplied'));
    stage.world.cloud.faults.consoleDelete({ group: 'legacy' });
  });

  it('a pool without a node group, because three prerequisites are not met', async () => {
    const { world } = stage;
    const linux = ['-l', 'kubernetes.io/os=linux'];
    world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
    await world.apply(windowsIpam(false));
    await world.kubectl('cordon', ...linux);
    try {
      await apply('early');
      await becomes('early', 'PrerequisitesMet', 'False/NoLinuxNode');
      await becomes('early', 'RuntimeClassReady', 'True/Available');
      await assertGolden('prerequisites', await show(looks('early'), '  NoLinuxNode  ', 'RuntimeClassApplied'));
    } finally {
      world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
      await world.apply(windowsIpam(true));
      await world.kubectl('uncordon', ...linux);
      await world.kubectl('delete', 'windowspool', 'early', '--timeout=30s');
    }
  });

  it('a pool on which EKS works, and all pools side by side', async () => {
    const goOn = slowed(stage.world);
    try {
      await apply('batch');
      await becomes('batch', 'NodeGroupReady', 'False/Creating');
      await becomes('batch', 'RuntimeClassReady', 'True/Available');
      await assertGolden('creating', await show(looks('batch'), 'NodeGroupCreated', 'RuntimeClassApplied'));
      await assertGolden('all', await show(['get wp', 'get wp -o wide']));
    } finally {
      goOn();
    }
  });

  it('the explanation of every field', async () => {
    const commands = ['explain windowspool', 'explain windowspool.spec --recursive', 'explain windowspool.spec'];
    await assertGolden('explain', await show(commands));
  });

  const typos: readonly (readonly [what: string, spec: object, flags: readonly string[], words: string])[] = [
    ['from the client', { scalling: {} }, ['--validate=strict'], 'unknown field "spec.scalling"'],
    ['from the server', { scalling: {} }, ['--server-side'], '.spec.scalling: field not declared in schema'],
  ];
  for (const [what, spec, flags, words] of typos) {
    it(`names a field that does not exist, when it is applied ${what}`, async () => {
      const typo = { ...sample, metadata: { name: 'typo' }, spec: { ...sample.spec, ...spec } };
      await assert.rejects(stage.world.apply(typo, ...flags), (error: Error) => error.message.includes(words));
    });
  }
});

describe('the words for what differs from run to run', () => {
  const cases: readonly (readonly [what: string, text: string, plain: string])[] = [
    ['an age at the end of a line', 'web    2/2     103s', 'web    2/2     0s'],
    ['an age before other columns', 'web    17s   Verified   web', 'web    0s    Verified   web'],
    ['the head of a column with a long age', 'AGE     REASON', 'AGE   REASON'],
    ['the same node twice', 'ip-10-0-2-9 ip-10-0-1-7.x ip-10-0-2-9', 'ip-10-0-0-2 ip-10-0-0-1.x ip-10-0-0-2'],
    ['a time', 'Creation Timestamp:  2026-11-21T12:48:38Z', 'Creation Timestamp:  TIME'],
    ['a size that looks like no age', '10.0.20348.5020   1.36-2026.04.18', '10.0.20348.5020   1.36-2026.04.18'],
  ];
  for (const [what, text, plain] of cases) {
    it(`replace ${what}`, () => assert.equal(withoutChance(text), `${plain}\n`));
  }
});
