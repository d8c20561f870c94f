import assert from 'node:assert/strict';
import fc from 'fast-check';
import { randomObservedState } from '../../controllers/windowspool/testing/randomObservedState.ts';
import { assertGolden } from '../../test/goldenText.ts';
import { commandIn, reportOf } from './poolReport.ts';
import { poolLines, poolTable } from './status.ts';
import { reported, situations } from './testing/situations.ts';
import { colored, plain } from './text.ts';

describe('kubectl windowspool status', () => {
  for (const [name, pool] of Object.entries(situations))
    it(`shows a pool on one screen: ${name}`, async () => {
      await assertGolden(`plugin/status-${name}`, `${poolLines(reportOf(pool), 80, plain).join('\n')}\n`);
    });

  it('takes the next step from a problem, and from a warning only without one', () => {
    const pool = situations['wrong-build'];
    const warned = (message: string) =>
      pool?.status?.conditions?.map((condition) =>
        condition.type === 'PrerequisitesMet' ? { ...condition, reason: 'MetWithWarnings', message } : condition,
      ) ?? [];
    assert.ok(pool);
    const { problems, nextCommand } = reportOf({
      ...pool,
      status: { ...pool.status, conditions: warned('A warning.') },
    });
    assert.deepEqual(
      [problems.map(({ reason }) => reason), nextCommand],
      [['WrongBuild', 'MetWithWarnings'], 'kubectl windowspool replace ip-10-0-1-9.internal'],
    );
  });

  it('says what gated and quarantined mean where it counts such nodes', () => {
    const { healthy } = situations;
    assert.ok(healthy);
    const nodes = { ...healthy.status?.nodes, gated: 2, quarantined: 1 };
    const lines = poolLines(reportOf({ ...healthy, status: { ...healthy.status, nodes } }), 120, plain);
    const [counts] = lines.filter((line) => line.startsWith('Nodes'));
    assert.match(counts ?? '', /2 gated \(no pods until .* verified\), 1 quarantined \(no new pods: .* failed/);
  });

  it('shows all pools in a table', async () => {
    const reports = Object.entries(situations).map(([name, pool]) => ({ ...reportOf(pool), pool: name }));
    const tables = [80, Number.POSITIVE_INFINITY].map((columns) => poolTable(reports, columns, plain).join('\n'));
    await assertGolden('plugin/status-table', `${tables.join('\n\n')}\n`);
  });

  it('names the next step of each pool, and a command that can be run', () => {
    fc.assert(
      fc.property(randomObservedState, (s) => {
        const { nextStep, nextCommand = '' } = reportOf(reported(s));
        assert.notEqual(nextStep, '');
        assert.match(nextCommand, /^$|^(kubectl|aws) [^\n]*[^.\s]$/);
      }),
      { numRuns: 200 },
    );
  });

  it('recommends the command update only for a pool whose release can be set', () => {
    const pool = situations['update-available'] ?? assert.fail();
    const { nodeGroup = assert.fail() } = pool.spec;
    const { nodeGroup: group = assert.fail() } = pool.status ?? {};
    const rows: readonly (readonly [spec: Partial<typeof nodeGroup>, state: Partial<typeof group>, command: string])[] =
      [
        [{}, {}, 'kubectl windowspool update web --release 1.36-2026.03.17'],
        [{ kubelet: { maxPods: 20 } }, {}, 'kubectl edit windowspool web'],
        [{}, { latestReleaseVersion: 'ami-0a000001' }, 'kubectl edit windowspool web'],
        [{}, { latestReleaseVersion: '1.36-2026.02.11' }, 'kubectl edit windowspool web'],
      ];
    for (const [spec, state, command] of rows) {
      const status = { ...pool.status, nodeGroup: { ...group, ...state } };
      const changed = { ...pool, spec: { ...pool.spec, nodeGroup: { ...nodeGroup, ...spec } }, status };
      assert.equal(reportOf(changed).nextCommand, command);
    }
  });

  it('fits into 80 columns, except for words that are longer', () => {
    fc.assert(
      fc.property(randomObservedState, (s) => {
        const lines = poolLines(reportOf(reported(s)), 80, plain);
        const isLong = (line: string) => line.length > 80 && line.trim().includes(' ') && !line.startsWith('  $ ');
        assert.deepEqual(lines.filter(isLong), []);
      }),
      { numRuns: 200 },
    );
  });

  it('has the same text with colors', () => {
    const [pool = assert.fail()] = Object.values(situations);
    const [title = ''] = poolLines(reportOf(pool), 80, colored);
    assert.equal(title, '\x1b[32mPool web is Ready\x1b[39m');
  });
});

describe('the command in a message', () => {
  const rows: readonly (readonly [message: string, command: string | undefined])[] = [
    [
      'It failed. Retry: kubectl annotate wp web winpool.dev/retry=$(date +%s) --overwrite',
      'kubectl annotate wp web winpool.dev/retry=$(date +%s) --overwrite',
    ],
    [
      'Attach it (aws iam attach-role-policy --role-name r --policy-arn a). Then wait.',
      'aws iam attach-role-policy --role-name r --policy-arn a',
    ],
    [
      'Replace it: kubectl annotate node ip-1.internal winpool.dev/replace=true. Or wait.',
      'kubectl annotate node ip-1.internal winpool.dev/replace=true',
    ],
    ['Delete it (aws eks delete-nodegroup --cluster-name CLUSTER).', undefined],
    ['Delete it (aws ec2 describe-network-interfaces --filters Name=group-id,Values=SECURITY_GROUP).', undefined],
    ['Restore the label (kubectl label node ip-1 KEY=VALUE).', undefined],
    ['Without the rule, much fails (kubectl logs, exec and port-forward fail).', undefined],
    ['Recreate the profile (aws iam create-instance-profile), and add the role.', undefined],
    [
      'Create it (aws eks create-access-entry --cluster-name prod --principal-arn arn:aws:iam::1:role/AmazonEKS_CNI --type EC2_WINDOWS).',
      'aws eks create-access-entry --cluster-name prod --principal-arn arn:aws:iam::1:role/AmazonEKS_CNI --type EC2_WINDOWS',
    ],
    ['If only Windows nodes use it, delete the entry (kubectl get nodes). Otherwise, set another role.', undefined],
    ['Nothing to run.', undefined],
  ];
  for (const [message, command] of rows) it(message, () => assert.equal(commandIn(message), command));
});
