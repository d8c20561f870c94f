import assert from 'node:assert/strict';
import type { WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import { existingPool, knownStatus, LEAVING } from '../../../controllers/windowspool/testing/fixtures.ts';
import { assertGolden } from '../../../test/goldenText.ts';
import { foundPod, foundWorkload, NEW, nodesOf, OLD, podSpec, readyPool, sampleMove } from '../testing/migrations.ts';
import { situations } from '../testing/situations.ts';
import { plain } from '../text.ts';
import { type DrainPlan, drainLines, drainRefusal, finishedLines, isDrained, stoppedLines } from './drainPlan.ts';
import type { FoundWorkload, Usage } from './inventory.ts';
import { poolAdvice, problemsOf } from './poolChecks.ts';
import { type NodeProgress, progressLines, progressScreen } from './progress.ts';
import { isReady, migrationReport } from './report.ts';
import { reportLines } from './reportLines.ts';
import type { Move } from './side.ts';

const NONE: Usage = { memory: 0, addresses: 0 };
const NOW = Date.parse('2026-03-01T12:00:00Z');

const move = sampleMove();
const moved = podSpec('cart:ltsc2022', { runtimeClassName: 'windows-2022' });
const old = podSpec('example.com/cart:1.4-ltsc2019', { runtimeClassName: 'windows-2019' });
const evicting = sampleMove({
  from: readyPool('old', {
    windowsVersion: 'Windows2019',
    disruption: { drain: { podsWithoutController: 'Evict', podsWithEmptyDir: 'Block' } },
  }),
});
const ready = (kind: string, name: string, change: Partial<FoundWorkload> = {}) =>
  foundWorkload(kind, name, moved, move, change);
const bare = (of: Move) =>
  foundWorkload('Pod', 'debug', moved, of, { pods: [foundPod('debug', {}, { controller: undefined })] });

const workloads = {
  mixed: [
    foundWorkload('DaemonSet', 'agent', podSpec('agent:1', { runtimeClassName: 'windows-2019' }), move, {
      namespace: 'ops',
      pods: [foundPod('agent-a')],
    }),
    foundWorkload('Deployment', 'cart', old, move, { pods: [foundPod('cart-a'), foundPod('cart-b')] }),
    bare(move),
    ready('StatefulSet', 'db', { pods: [foundPod('db-0', { blockedBy: ['db'] })] }),
    ready('Deployment', 'web'),
    foundWorkload('CronJob', 'report', old, move, { pods: [] }),
  ],
  blocked: [
    ready('Deployment', 'many', { pods: [foundPod('many-0', { blockedBy: ['all', 'many'] })] }),
    ready('Deployment', 'stuck', { pods: [foundPod('stuck-0', { blockedBy: [] })] }),
    ready('Deployment', 'rolling', { pods: [foundPod('rolling-0', { selectsOldPool: true }), foundPod('rolling-1')] }),
    ready('CronJob', 'nightly', { pods: [foundPod('nightly-0', { selectsOldPool: true })] }),
    ready('Job', 'import'),
    foundWorkload('Job', 'export', old, move),
  ],
  evicting: [
    bare(evicting),
    foundWorkload('Deployment', 'cache', moved, evicting, { pods: [foundPod('cache-0', {}, { emptyDir: true })] }),
  ],
};

function reportFor(of: Move, found: readonly FoundWorkload[], used = NONE) {
  return migrationReport(of, { workloads: found, used });
}

function planFor(of: Move, found: readonly FoundWorkload[], allowsPending = false): DrainPlan {
  const inventory = { workloads: found, used: NONE };
  return { move: of, inventory, report: migrationReport(of, inventory), allowsPending };
}

const ready2 = [
  ready('Deployment', 'web'),
  ready('StatefulSet', 'db', { pods: [foundPod('db-0', { blockedBy: ['db'] })] }),
];

describe('kubectl windowspool migrate', () => {
  it('shows what each workload must change, and the state of the pools', async () => {
    const small = sampleMove({ toNodes: [...nodesOf(NEW, 1), ...nodesOf(NEW, 2, { unschedulable: true }).slice(1)] });
    const reports = {
      'kubectl windowspool migrate old new': reportFor(move, workloads.mixed),
      'what blocks': reportFor(move, workloads.blocked),
      'what the old pool evicts': reportFor(evicting, workloads.evicting),
      'a new pool without room': reportFor(small, [ready('Deployment', 'web')], {
        memory: 6 * 1024 ** 3,
        addresses: 9,
      }),
      'ready to drain': reportFor(move, [ready('Deployment', 'web')]),
      'nothing left': reportFor(move, []),
    };
    const texts = Object.entries(reports).map(([what, report]) =>
      [`# ${what}`, ...reportLines(report, 80, plain)].join('\n'),
    );
    await assertGolden('plugin/migrate', `${texts.join('\n\n')}\n`);
  });

  it('fits 80 columns, and shows everything with --output=wide', () => {
    const report = reportFor(move, workloads.mixed);
    for (const line of reportLines(report, 80, plain)) assert.ok(line.length <= 80, line);
    const wide = reportLines(report, Number.POSITIVE_INFINITY, plain).join('\n');
    assert.ok(wide.includes('image (app): example.com/cart:1.4-ltsc2019 -> example.com/cart:1.4-ltsc2022\n'), wide);
  });

  it('succeeds if nothing has to be done first', () => {
    assert.deepEqual(
      [workloads.mixed, workloads.blocked, [ready('Deployment', 'web')], []].map((found) =>
        isReady(reportFor(move, found)),
      ),
      [false, false, true, true],
    );
  });

  const pool = (name: string, change: Partial<WindowsPool['metadata']> = {}): WindowsPool => {
    const found = situations[name] ?? assert.fail(`there is no situation ${name}`);
    return { ...found, metadata: { ...found.metadata, name: 'new', ...change } };
  };
  const disrupted = (of: WindowsPool): WindowsPool => ({
    ...of,
    status: { ...of.status, disruption: { reason: 'Update', startTime: '2026-03-01T11:00:00Z' } },
  });
  const problems: readonly (readonly [what: string, of: Move])[] = [
    ['none', move],
    ['a new pool that is not Ready', sampleMove({ to: pool('wrong-build') })],
    ['a new pool that is not observed', sampleMove({ to: pool('not-observed') })],
    ['a new pool that is being deleted', sampleMove({ to: pool('deleting') })],
    ['a new pool without nodes', sampleMove({ toNodes: [] })],
    [
      'a new pool whose nodes are cordoned, not verified or tainted',
      sampleMove({
        toNodes: [
          ...nodesOf(NEW, 1, { unschedulable: true }),
          ...nodesOf(NEW, 1, { verified: undefined }),
          ...nodesOf(NEW, 1, {
            taints: [{ key: 'startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate', effect: 'NoSchedule' }],
          }),
        ],
      }),
    ],
    [
      'an old pool that is being deleted, and whose nodes the operator replaces',
      sampleMove({ from: disrupted({ ...OLD, metadata: { ...OLD.metadata, ...LEAVING } }) }),
    ],
  ];
  it('has problems, and advice about the nodes of the new pool', async () => {
    const texts = problems.map(([what, of]) => {
      const found = problemsOf(of).map(({ message, command }) => `${message} $ ${command}`);
      return [`# ${what}`, ...found].join('\n');
    });
    const existing = { ...existingPool({}, { metadata: { name: 'new' }, status: knownStatus() }) };
    const advice = {
      'advice about fewer nodes': poolAdvice(
        sampleMove({ to: existing, toNodes: nodesOf(NEW, 2) }),
        [foundPod('cart-0')],
        NONE,
      ),
      'advice about nodes that are replaced': poolAdvice(sampleMove({ to: disrupted(NEW) }), [], NONE),
      'no advice': poolAdvice(move, [foundPod('cart-0')], NONE),
    };
    for (const [what, lines] of Object.entries(advice)) texts.push([`# ${what}`, ...lines].join('\n'));
    await assertGolden('plugin/migrate-problems', `${texts.join('\n\n')}\n`);
  });
});

describe('kubectl windowspool migrate --drain', () => {
  it('shows what it disrupts, its progress, and how it ended', async () => {
    const nodes: readonly NodeProgress[] = [
      { node: 'ip-10-0-1-1.eu-west-1.compute.internal', phase: 'drained', pods: 0, waitsFor: '' },
      {
        node: 'ip-10-0-1-2.eu-west-1.compute.internal',
        phase: 'draining',
        pods: 2,
        waitsFor: 'PodDisruptionBudget db (shop/db-0)',
      },
      { node: 'ip-10-0-1-3.eu-west-1.compute.internal', phase: 'cordoned', pods: undefined, waitsFor: '' },
    ];
    const progress = { from: 'old', to: 'new', nodes, trouble: '' };
    const trouble = {
      ...progress,
      trouble: 'No other node is drained while the operator is replacing nodes of pool old.',
    };
    const forced = planFor(move, [...ready2, foundWorkload('Deployment', 'cart', old, move)], true);
    const kept = planFor(
      sampleMove({
        from: readyPool('old', { deletionPolicy: 'Retain', disruption: {} }),
        fromNodes: nodesOf(OLD, 1, { unschedulable: true }),
      }),
      [],
    );
    const byoh = planFor(
      sampleMove({ from: existingPool({}, { metadata: { name: 'old' } }), fromNodes: nodesOf(OLD, 2) }),
      ready2,
    );
    const texts = {
      before: drainLines(planFor(move, ready2), 80),
      'with workloads that stay Pending': drainLines(forced, 80),
      'existing nodes': drainLines(byoh, 80),
      'on a terminal': progressScreen(progress, 80, plain),
      'when no other node may start': progressScreen(trouble, 80, plain),
      'without a terminal': progressLines(trouble),
      stopped: stoppedLines(forced, 1, 3),
      finished: finishedLines(planFor(move, ready2), 3, 80),
      'finished with workloads that stay Pending': finishedLines(forced, 3, 80),
      'finished, and the node group stays': finishedLines(kept, 1, 80),
      'finished with existing nodes': finishedLines(byoh, 2, 80),
      'without nodes': finishedLines(kept, 0, 80),
    };
    const sections = Object.entries(texts).map(([what, lines]) => [`# ${what}`, ...lines].join('\n'));
    await assertGolden('plugin/migrate-drain', `${sections.join('\n\n')}\n`);
  });

  const refusals: readonly (readonly [what: string, plan: DrainPlan])[] = [
    ['nothing', planFor(move, ready2)],
    ['a workload that cannot run in the new pool', planFor(move, workloads.mixed)],
    ['a bare pod, also if pods may stay Pending', planFor(move, workloads.mixed, true)],
    ['a rollout in progress', planFor(move, workloads.blocked)],
    ['what a drain must not delete', planFor(evicting, workloads.evicting)],
    ['a problem of the new pool', planFor(sampleMove({ toNodes: [] }), ready2, true)],
    ['a DaemonSet of the old pool', planFor(move, [foundWorkload('DaemonSet', 'agent', old, move)])],
  ];
  it('refuses what would not run in the new pool, or must not be deleted', async () => {
    const texts = refusals.map(([what, plan]) => `# ${what}\n${drainRefusal(plan, NOW) ?? 'not refused'}`);
    await assertGolden('plugin/migrate-refusals', `${texts.join('\n\n')}\n`);
  });

  it('has nothing to do when all nodes are cordoned and without pods that must leave', () => {
    const cordoned = sampleMove({ fromNodes: nodesOf(OLD, 2, { unschedulable: true }) });
    const agent = foundWorkload('DaemonSet', 'agent', moved, move);
    assert.deepEqual([planFor(cordoned, [agent]), planFor(move, [agent]), planFor(cordoned, ready2)].map(isDrained), [
      true,
      false,
      false,
    ]);
  });
});
