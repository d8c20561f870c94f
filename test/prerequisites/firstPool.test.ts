import { waitFor } from '../../hack/controlplane/wait.ts';
import { nodeRoleArn } from '../fakes/localaws/network.ts';
import { type TestEnv, windowsIpam } from '../fakes/testenv/testEnv.ts';
import { assertGolden, normalized } from '../goldenText.ts';
import { poolManifest } from '../pools.ts';
import { freezeAws, setSwitch } from '../sharedWorld.ts';
import { awsAuth, linuxGroup, withPrerequisites } from './prerequisitesFixture.ts';

const LINUX_GROUPS = ['system:bootstrappers', 'system:nodes'];
const BOTH_GROUPS = [...LINUX_GROUPS, 'eks:kube-proxy-windows'];

/** The state of a cluster when its first pool is applied, and the expected conditions, such as `PrerequisitesMet=True/Met`. */
interface Row {
  readonly what: string;
  readonly name: string;
  readonly given: (world: TestEnv) => unknown;
  /** Whether EKS is still creating the group when the pool is shown. */
  readonly creating: boolean;
  readonly until: readonly string[];
  /** A word of the last message. */
  readonly word: RegExp;
}

const rows: readonly Row[] = [
  {
    what: 'with aws-auth only, and no role in it yet',
    name: 'first-aws-auth',
    given: ({ cloud }) => {
      cloud.faults.accessEntry({ exists: false });
      cloud.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
    },
    creating: true,
    until: ['PrerequisitesMet=True/Met', 'NodeGroupReady=False/Creating'],
    word: /EKS adds it with the node group/,
  },
  {
    what: 'with access entries only, and none for the role yet',
    name: 'first-entries',
    given: ({ cloud }) => {
      cloud.faults.accessEntry({ exists: false });
      cloud.faults.cluster({ authenticationMode: 'API' });
    },
    creating: true,
    until: ['PrerequisitesMet=True/Met', 'NodeGroupReady=False/Creating'],
    word: /EKS creates one of type EC2_WINDOWS/,
  },
  {
    what: 'with both, and a role that aws-auth maps for Linux nodes',
    name: 'first-both',
    given: async (world) => {
      world.cloud.faults.accessEntry({ exists: false });
      await world.apply(awsAuth(LINUX_GROUPS));
    },
    creating: true,
    until: ['PrerequisitesMet=True/MetWithWarnings', 'NodeGroupReady=False/Creating'],
    word: /has no access entry\. Unless EKS creates one/,
  },
  {
    what: 'with a role that a Linux group shares under aws-auth',
    name: 'first-shared',
    given: async (world) => {
      world.cloud.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
      await world.apply(awsAuth(BOTH_GROUPS));
      await linuxGroup(world, 'linux', nodeRoleArn);
    },
    creating: true,
    until: ['PrerequisitesMet=True/MetWithWarnings', 'NodeGroupReady=False/Creating'],
    word: /is also the role of Linux node group linux/,
  },
  {
    what: 'with Windows IPAM off',
    name: 'first-ipam',
    given: (world) => world.apply(windowsIpam(false)),
    creating: false,
    until: ['PrerequisitesMet=False/WindowsIPAMDisabled', 'Stalled=True/WindowsIPAMDisabled'],
    word: /Windows IPAM is disabled/,
  },
  {
    what: 'with a cluster role that lacks the policy of the VPC resource controller',
    name: 'first-policy',
    given: ({ cloud }) => cloud.faults.clusterRolePolicy({ attached: false }),
    creating: false,
    until: [
      'PrerequisitesMet=True/MetWithWarnings',
      'NodesVerified=False/NoPodAddresses',
      'NodeGroupReady=True/Active',
    ],
    word: /nodes? failed verification.*Likely cause: ClusterRolePolicyMissing/s,
  },
];

describe('the first pool of a cluster', () => {
  const { fixture, remove } = withPrerequisites();

  /** Its conditions as `kubectl describe` prints them, and its warnings. */
  async function shown(name: string): Promise<string> {
    const described = normalized(await fixture.world.kubectl('describe', 'windowspool', name));
    const start = described.indexOf('  Conditions:');
    // The spec, which comes first, also has a Node Group.
    const conditions = described.slice(start, described.indexOf('\n  Node Group:\n', start));
    const of = `involvedObject.kind=WindowsPool,involvedObject.name=${name},type=Warning`;
    const columns = 'custom-columns=REASON:.reason,MESSAGE:.message';
    const events = await fixture.world.kubectl(
      ...['get', 'events', '-n', 'default', '--sort-by=.reason', '--field-selector', of],
      ...['-o', columns],
    );
    return `$ kubectl describe windowspool ${name}\nStatus:\n${conditions.split('\n  Failing Nodes:')[0]?.trimEnd()}\n\nWarnings:\n${normalized(events)}`;
  }

  for (const { what, name, given, creating, until, word } of rows) {
    it(`${what} has the messages that an engineer on call needs`, async () => {
      // The local AWS creates everything at once, but the next poll would already read it: this delays it as in AWS.
      const restore = setSwitch(fixture.world, 'nodegroupAccessEntry', 'none');
      await given(fixture.world);
      const restoreSpeed = creating ? freezeAws(fixture.world) : () => undefined;
      try {
        await fixture.world.apply(poolManifest(name));
        // Also the condition that is in no row, because it is part of the output.
        const states = [...until, 'RuntimeClassReady=True/Available'];
        await fixture.world.waitForConditions(name, ...states);
        let text = '';
        const isComplete = async () => {
          text = await shown(name);
          return word.test(text);
        };
        await waitFor(isComplete, { what: `${word} to be shown`, explain: () => text });
        await assertGolden(name, text);
      } finally {
        restoreSpeed();
        restore();
      }
      await remove(name);
    });
  }
});
