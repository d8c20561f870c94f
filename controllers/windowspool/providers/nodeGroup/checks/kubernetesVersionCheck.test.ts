import assert from 'node:assert/strict';
import { known } from '../../../testing/answers.ts';
import { unmet } from '../../../testing/checkTable.ts';
import { sampleCluster, sampleError, samplePool } from '../../../testing/fixtures.ts';
import { type Brief, textTable } from '../../../testing/goldenTexts.ts';
import { sampleFacts, sampleInput } from '../../../testing/prerequisites.ts';
import type { CheckFacts } from '../model/checkFacts.ts';

const check = textTable('checks/kubernetesVersionCheck');

describe('the check of Kubernetes and Windows versions', () => {
  let exists: NonNullable<CheckFacts['ami']>;
  beforeEach(() => {
    exists = known(false);
  });
  const pairs = (version: 'Windows2019' | 'Windows2022' | 'Windows2025') =>
    ['1.22', '1.23', '1.30', '1.34', '1.35', '1.36', '1.37', '', '2.1'].filter(
      (kubernetesVersion) =>
        unmet(
          sampleInput({
            spec: samplePool({ windowsVersion: version }).spec,
            cluster: sampleCluster({ kubernetesVersion }),
            facts: sampleFacts({ ami: exists }),
          }),
        ).length === 0,
    );
  it('accepts the pairs in the table, and newer Kubernetes versions for which EKS publishes an AMI', () => {
    const all = () => [pairs('Windows2019'), pairs('Windows2022'), pairs('Windows2025')];
    const listed = [
      ['1.23', '1.30', '1.34'],
      ['1.23', '1.30', '1.34', '1.35', '1.36'],
      ['1.35', '1.36'],
    ];
    assert.deepEqual(all(), listed);
    exists = known(true);
    assert.deepEqual(all(), [listed[0], ...listed.slice(1).map((minors) => [...minors, '1.37'])]);
  });

  const of = (windowsVersion: 'Windows2019' | 'Windows2025', kubernetesVersion: string) =>
    unmet(
      sampleInput({
        spec: samplePool({ windowsVersion }).spec,
        cluster: sampleCluster({ kubernetesVersion }),
        facts: sampleFacts({ ami: exists }),
      }),
    );

  const reports = (what: string, facts: typeof exists, version: Parameters<typeof of>, want: Brief) => {
    const texts = () => {
      exists = facts;
      return of(...version);
    };
    check(what, texts, [want]);
  };
  const denied = sampleError('denied', { operation: 'ssm:GetParameter' });
  const away = sampleError('unavailable', { operation: 'GetParameter' });
  reports(
    'reports a pair that EKS does not support',
    known(false),
    ['Windows2025', '1.34'],
    ['UnsupportedVersion', '2025', '1.34', '1.35 or newer'],
  );
  reports(
    'reports a pair without an AMI',
    known(false),
    ['Windows2025', '1.37'],
    ['UnsupportedVersion', '2025', '1.37', 'eu-west-1', 'nodeGroup.kubernetesVersion'],
  );
  reports(
    'reports a version that this release does not support',
    known(false),
    ['Windows2025', '2.1'],
    ['UnsupportedVersion', '2.1', 'prod'],
  );
  reports(
    'blocks nothing if SSM denies the call',
    { ok: false, error: denied },
    ['Windows2025', '1.37'],
    ['UnsupportedVersion (unknown)', 'ssm:GetParameter'],
  );
  reports(
    'blocks nothing if SSM cannot be reached',
    { ok: false, error: away },
    ['Windows2025', '1.37'],
    ['UnsupportedVersion (unknown)', 'GetParameter', 'the call was unavailable'],
  );
  for (const version of ['1.35', '1.36', '1.37'])
    reports(
      `warns if EKS publishes an AMI for ${version}, which the Kubernetes project no longer supports`,
      known(true),
      ['Windows2019', version],
      ['UnsupportedVersion (warning)', '2019', '1.34', version],
    );
});

describe('the check of pinned versions', () => {
  const of = (pins: { kubernetesVersion?: string; releaseVersion?: string }) =>
    unmet(sampleInput({ spec: samplePool({ windowsVersion: 'Windows2025', nodeGroup: pins }).spec }));

  it('accepts the version of the control plane and slightly older ones', () => {
    for (const pins of [{ kubernetesVersion: '1.36' }, { releaseVersion: '1.35-2026.01.22' }])
      assert.deepEqual(of(pins), []);
  });

  check('reports a pin that is newer than the control plane', () => of({ kubernetesVersion: '1.37' }), [
    ['UnsupportedVersion', 'nodeGroup.kubernetesVersion', '1.37', 'prod', '1.36'],
  ]);
  const ofPin = (kubernetesVersion: string) =>
    unmet(sampleInput({ spec: samplePool({ nodeGroup: { kubernetesVersion } }).spec }));
  it('accepts a pin that is three minor versions older than the control plane', () =>
    assert.deepEqual(ofPin('1.33'), []));
  check('reports a pin that is more than three minor versions older', () => ofPin('1.32'), [
    ['UnsupportedVersion', 'nodeGroup.kubernetesVersion', '1.32', 'prod', '1.36', '3 minor versions'],
  ]);
  check('reports a pin that EKS does not support', () => of({ releaseVersion: '1.34-2026.01.22' }), [
    ['UnsupportedVersion', '2025', '1.34', '1.35 or newer', 'nodeGroup.releaseVersion'],
  ]);
});
