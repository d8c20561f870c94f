import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { AdviceState } from '../../../api.gen.ts';
import { evaluateConditions } from '../../../conditions/conditions.ts';
import { IGNORE_PREREQUISITES_ANNOTATION } from '../../../labels.ts';
import type { AdviceFacts } from '../../../model/prerequisites.ts';
import { adviceReasons } from '../../../reasons.ts';
import { known } from '../../../testing/answers.ts';
import {
  knownStatus,
  type ObservedStateChange,
  type SpecChange,
  sampleGroup,
  samplePool,
  sampleState,
  settings,
} from '../../../testing/fixtures.ts';
import {
  ONE_ZONE,
  randomAdviceFacts,
  sampleAdviceFacts,
  sampleFacts,
  unasked,
} from '../../../testing/prerequisites.ts';
import { randomObservedState } from '../../../testing/randomObservedState.ts';
import { annotationFault } from '../prerequisites/ignored.ts';
import { adviceStates, checks } from './states.ts';

/** A pool whose group is to be created, with these facts. */
function planned(advice: Partial<AdviceFacts>, spec: SpecChange = {}, rest: ObservedStateChange = {}) {
  const prerequisites = sampleFacts({ advice: sampleAdviceFacts(advice) });
  return sampleState({ pool: samplePool(spec), group: { kind: 'absent' }, nodes: [], prerequisites, ...rest });
}

/** The same with an existing group. */
function running(advice: Partial<AdviceFacts>, spec: SpecChange = {}) {
  const pool = samplePool(spec, { status: knownStatus() });
  return planned(advice, {}, { pool, group: { kind: 'seen', group: sampleGroup(pool) } });
}

const EARLIER: AdviceState = { name: 'zones', reason: 'SubnetsInOneZone', message: 'As found before.' };
const withEarlier = (advice: AdviceState[] = [EARLIER]) => samplePool({}, { status: { ...knownStatus(), advice } });

const lines = (s: ReturnType<typeof planned>) => adviceStates(s).map(({ reason, message }) => `${reason}: ${message}`);

type Row = readonly [what: string, s: ReturnType<typeof planned>, want: readonly string[]];

const tables: Readonly<Record<string, readonly Row[]>> = {
  'about zones': [
    ['subnets in two zones', planned({}), []],
    [
      'two subnets in one zone',
      planned({ subnets: known(ONE_ZONE) }),
      [
        'SubnetsInOneZone: Subnets subnet-0a000000 and subnet-0b000000 are all in one zone. If zone eu-west-1a fails, the pool has no nodes. Add a subnet of another zone to nodeGroup.subnets.',
      ],
    ],
    [
      'one subnet of a group that exists',
      running(
        {
          subnets: known([
            ...ONE_ZONE.slice(0, 1),
            { ...ONE_ZONE[0], id: 'subnet-0c000000', zone: 'eu-west-1c' } as never,
          ]),
        },
        { nodeGroup: { subnets: [{ id: 'subnet-0a000000' }] } },
      ),
      [
        'SubnetsInOneZone: Subnet subnet-0a000000 is the only subnet of the pool. If zone eu-west-1a fails, the pool has no nodes. EKS cannot change the subnets of a node group: to use several zones, create another pool.',
      ],
    ],
    ['subnets that do not exist', planned({ subnets: known([]) }), []],
  ],
  'about CoreDNS': [
    ['pods on two nodes', planned({ dnsNodes: known(['linux-1', 'linux-1', 'linux-2']) }), []],
    ['another DNS server', planned({ dnsNodes: known([]) }), []],
    [
      'one pod',
      planned({ dnsNodes: known(['linux-1']) }),
      [
        'DnsOnOneNode: CoreDNS has one pod, on node linux-1. While this node is drained or down, pods cannot resolve DNS names. Run at least 2: with the coredns add-on, set replicaCount in its configuration values, otherwise scale the Deployment (kubectl -n kube-system scale deployment coredns --replicas=2).',
      ],
    ],
    [
      'two pods on one node',
      running({ dnsNodes: known(['linux-1', 'linux-1']) }),
      [
        'DnsOnOneNode: All pods of CoreDNS are on node linux-1. While this node is drained or down, pods cannot resolve DNS names. If other Linux nodes have room, restart CoreDNS, which spreads the pods (kubectl -n kube-system rollout restart deployment coredns). Otherwise, add a Linux node.',
      ],
    ],
  ],
};

describe('advice', () => {
  for (const [title, rows] of Object.entries(tables)) {
    describe(title, () => {
      for (const [what, s, want] of rows) {
        it(`${want.length === 0 ? 'is not given about' : 'is given about'} ${what}`, () =>
          assert.deepEqual(lines(s), want));
      }
    });
  }

  it('stays while its facts are not read, or a call fails', () => {
    const { advice: _advice, ...others } = sampleFacts();
    const failed = sampleFacts({ advice: sampleAdviceFacts({ subnets: unasked('throttled') }) });
    for (const prerequisites of [others, failed, undefined])
      assert.deepEqual(adviceStates(sampleState({ pool: withEarlier(), prerequisites })), [EARLIER]);
  });

  it('is not given without the permission to read its facts, and nothing reports that', () => {
    const facts = sampleAdviceFacts();
    const denied = Object.fromEntries(Object.keys(facts).map((name) => [name, unasked()])) as unknown as AdviceFacts;
    const s = sampleState({ pool: withEarlier(), prerequisites: sampleFacts({ advice: denied }) });
    assert.deepEqual(adviceStates(s), []);
    assert.equal(evaluateConditions(s).PrerequisitesMet?.reason, 'Met');
  });

  it('is not given if the user ignores it', () => {
    const annotations = { [IGNORE_PREREQUISITES_ANNOTATION]: 'SubnetsInOneZone' };
    const pool = samplePool({}, { metadata: { annotations }, status: { ...knownStatus(), advice: [EARLIER] } });
    assert.deepEqual(lines(planned({ subnets: known(ONE_ZONE) }, {}, { pool })), []);
    assert.equal(annotationFault(pool, settings), undefined);
  });

  it('of another release of the operator, with another reason, is dropped', () => {
    const pool = withEarlier([{ name: 'other', reason: 'SomethingNew', message: 'x' }]);
    assert.deepEqual(adviceStates(sampleState({ pool })), []);
  });

  it('affects no condition', () => {
    fc.assert(
      fc.property(randomObservedState, randomAdviceFacts, fc.subarray([...adviceReasons]), (s, advice, ignored) => {
        const metadata = { ...s.pool.metadata, annotations: { [IGNORE_PREREQUISITES_ANNOTATION]: ignored.join() } };
        const without = { ...s, pool: { ...s.pool, metadata }, prerequisites: sampleFacts() };
        const prerequisites = sampleFacts({ advice });
        assert.deepEqual(evaluateConditions({ ...without, prerequisites }), evaluateConditions(without));
      }),
      { numRuns: 300 },
    );
  });

  it('has one reason and one section in the docs each, and the section names the reason', () => {
    const page = readFileSync(`${import.meta.dirname}/../../../../../docs/advice.md`, 'utf8');
    for (const { reason, section } of checks) {
      const at = page.search(new RegExp(`^## ${section.replaceAll('-', '[ -]')}$`, 'im'));
      assert.notEqual(at, -1, `docs/advice.md has no heading ${section}`);
      const end = page.indexOf('\n## ', at + 1);
      assert.ok(page.slice(at, end < 0 ? undefined : end).includes(`\`${reason}\``), `${section} names no ${reason}`);
    }
    assert.deepEqual(
      checks.map(({ reason }) => reason),
      [...adviceReasons],
    );
    assert.equal(new Set(checks.map(({ section }) => section)).size, checks.length);
  });
});
