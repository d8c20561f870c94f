import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { WindowsPoolSpec } from '../api/api.gen.ts';
import { IGNORE_PREREQUISITES_ANNOTATION } from '../api/labels.ts';
import { poolMetrics } from '../api/metricCatalogue.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { known } from '../testing/answers.ts';
import {
  knownStatus,
  NOW,
  type ObservedStateChange,
  sampleGroup,
  sampleNode,
  samplePool,
  sampleState,
} from '../testing/fixtures.ts';
import { sampleFacts } from '../testing/prerequisites.ts';
import { randomObservedState } from '../testing/randomObservedState.ts';
import { gaugesOf, seriesOf } from '../testing/shownMetrics.ts';
import { samplesFor, statesForMetrics } from '../testing/statesForMetrics.ts';

function shown(change: ObservedStateChange): Readonly<Record<string, number>> {
  return Object.fromEntries(samplesFor(sampleState(change)).map(seriesOf));
}

/** The metrics that differ from those of a settled pool, without conditions. */
function news(name: string): Readonly<Record<string, number>> {
  const settled = shown({});
  const entries = Object.entries(shown(statesForMetrics[name] ?? {}));
  return Object.fromEntries(
    entries.filter(([series, value]) => !series.startsWith('windowspool_status_') && settled[series] !== value),
  );
}

describe('the metrics of a pool', () => {
  it('show its conditions with their reasons', () => {
    const gauges = shown({ nodes: [sampleNode(), sampleNode({ name: 'ip-9', taints: [] })] });
    const held = Object.entries(gaugesOf(gauges, 'windowspool_status_condition')).filter(([, value]) => value === 1);
    assert.deepEqual(
      held.map(([labels]) => labels),
      [
        'type="Ready",status="False"',
        'type="PrerequisitesMet",status="True"',
        'type="NodeGroupReady",status="True"',
        'type="RuntimeClassReady",status="True"',
        'type="NodesVerified",status="False"',
        'type="UpToDate",status="True"',
      ],
    );
    assert.equal(gauges['windowspool_status_condition{type="Ready",status="True"}'], 0);
    assert.equal(
      gauges['windowspool_status_condition_reason{type="NodesVerified",reason="RegistrationTaintMissing"}'],
      1,
    );
  });

  it('show a settled pool', () => {
    const gauges = Object.entries(shown({})).filter(([series]) => !/_status_condition|_drift_/.test(series));
    assert.deepEqual(Object.fromEntries(gauges), {
      'windowspool_info{windows_version="Windows2022",source="nodeGroup",verification_policy="Report"}': 1,
      windowspool_created_timestamp_seconds: Date.parse('2026-03-01T11:00:00Z') / 1_000,
      windowspool_first_ready_timestamp_seconds: NOW / 1_000,
      windowspool_windows_version_end_timestamp_seconds: Date.parse('2031-10-14') / 1_000,
      windowspool_paused: 0,
      'windowspool_nodes{state="verified"}': 3,
      'windowspool_nodes{state="joining"}': 0,
      'windowspool_nodes{state="failing"}': 0,
      'windowspool_nodes_by_kernel{kernel_version="10.0.20348.2762"}': 3,
      windowspool_nodes_desired: 3,
      windowspool_nodes_min: 3,
      windowspool_nodes_max: 5,
      windowspool_nodes_max_unavailable: 1,
      windowspool_nodes_ready: 3,
      windowspool_nodes_gated: 0,
      windowspool_nodes_quarantined: 0,
      windowspool_pod_ip_addresses: 27,
      'windowspool_node_group_info{node_group="web",ami_type="WINDOWS_CORE_2022_x86_64",capacity_type="OnDemand",kubernetes_version="1.36",release_version="1.36-2026.02.11"}': 1,
      'windowspool_node_group_status{status="ACTIVE"}': 1,
      windowspool_node_group_release_timestamp_seconds: Date.parse('2026-02-11') / 1_000,
      windowspool_node_group_release_end_timestamp_seconds: Date.parse('2026-06-11') / 1_000,
      windowspool_disruption_reservation: 0,
      windowspool_nodes_waiting_to_leave: 0,
    });
  });

  it('show nodes by failed check, codes of EKS, addresses and a newer release', () => {
    assert.deepEqual(news('failing nodes, an issue, a newer release, a prerequisite that is not met, and advice'), {
      'windowspool_info{windows_version="Windows2022",source="nodeGroup",verification_policy="Quarantine"}': 1,
      'windowspool_node_failures{reason="NotReady"}': 1,
      'windowspool_node_failures{reason="RegistrationTaintMissing"}': 1,
      'windowspool_node_failures{reason="RevisionTooLow"}': 1,
      'windowspool_node_warnings{reason="ReservedMemoryTooLow"}': 1,
      'windowspool_node_group_health_issues{code="NodeCreationFailure"}': 2,
      'windowspool_node_group_health_issues{code="other"}': 1,
      'windowspool_node_group_status{status="DEGRADED"}': 1,
      windowspool_node_group_latest_release_timestamp_seconds: Date.parse('2026-02-25') / 1_000,
      'windowspool_nodes{state="verified"}': 2,
      'windowspool_nodes{state="failing"}': 1,
      'windowspool_nodes_by_kernel{kernel_version="10.0.20348.2762"}': 2,
      'windowspool_nodes_by_kernel{kernel_version="10.0.20348.1000"}': 1,
      windowspool_nodes_below_minimum_revision: 1,
      windowspool_nodes_ready: 2,
      windowspool_pod_ip_addresses: 32,
      'windowspool_prerequisite{reason="WindowsIPAMDisabled",status="False"}': 1,
      'windowspool_advice{reason="RootVolumeSmall"}': 1,
      'windowspool_advice{reason="SubnetsInOneZone"}': 1,
      windowspool_subnet_free_ip_addresses: 502,
      windowspool_subnet_needed_ip_addresses: 8,
    });
  });

  it('show since when a pool is paused and being deleted, as status shows it after a restart', () => {
    assert.deepEqual(news('a pause, and a deletion that waits for its end'), {
      windowspool_paused: 1,
      windowspool_paused_start_timestamp_seconds: Date.parse('2026-02-28T12:00:00Z') / 1_000,
      windowspool_deletion_timestamp_seconds: Date.parse('2026-03-01T12:00:00Z') / 1_000,
    });
  });

  it('show how many nodes an update may replace at the same time, as the spec or EKS limits them', () => {
    const limits = (maxUnavailable: string | undefined, spec: Partial<WindowsPoolSpec> = {}) => {
      const pool = samplePool(spec, { status: knownStatus() });
      const group = sampleGroup(pool, { update: maxUnavailable === undefined ? {} : { maxUnavailable } });
      return shown({ pool, group: { kind: 'seen', group } }).windowspool_nodes_max_unavailable;
    };
    assert.deepEqual(
      [limits(undefined), limits('2'), limits('67%'), limits('2', { disruption: { maxUnavailable: 3 } })],
      [1, 2, 2, 3],
    );
  });

  it('show the instances of a warm pool', () => {
    assert.deepEqual(news('a warm pool'), { windowspool_warm_instances: 2 });
  });

  it('show prerequisites with warnings, and ignored ones', () => {
    const linuxRoles = known([{ group: 'linux', nodeRoleArn: 'arn:aws:iam::111122223333:role/windows-nodes' }]);
    const annotations = { [IGNORE_PREREQUISITES_ANNOTATION]: 'WindowsIPAMDisabled' };
    const samples = samplesFor(
      sampleState({
        pool: samplePool({}, { metadata: { annotations }, status: knownStatus() }),
        prerequisites: sampleFacts({ accessEntry: known(undefined), cniConfig: known({}), linuxRoles }),
      }),
    );
    assert.deepEqual(
      samples.flatMap((sample) => (sample.metric === 'windowspool_prerequisite' ? [sample.labels] : [])),
      [
        { reason: 'NodeAccessInvalid', status: 'False' },
        { reason: 'NodeRoleShared', status: 'Warning' },
        { reason: 'WindowsIPAMDisabled', status: 'Ignored' },
      ],
    );
  });

  it('show an update with its start, and the share of the budget', () => {
    assert.deepEqual(news('a rolling update'), {
      'windowspool_node_group_status{status="UPDATING"}': 1,
      windowspool_disruption_reservation: 1,
      windowspool_disruption_reservation_start_timestamp_seconds: Date.parse('2026-03-01T10:59:58Z') / 1_000,
      'windowspool_update_in_progress{type="VersionUpdate"}': 1,
      'windowspool_update_start_timestamp_seconds{type="VersionUpdate"}': Date.parse('2026-03-01T11:00:00Z') / 1_000,
    });
  });

  it('show the images that the operator pulls, and none for a pool without them', () => {
    const pulls = Object.entries(news('images that are pulled')).filter(([series]) => series.includes('image_pulls'));
    assert.deepEqual(Object.fromEntries(pulls), {
      'windowspool_image_pulls{state="waiting"}': 1,
      'windowspool_image_pulls{state="pulling"}': 0,
      'windowspool_image_pulls{state="failed"}': 1,
      'windowspool_image_pulls{state="pulled"}': 0,
    });
    assert.deepEqual(
      Object.keys(shown({})).filter((series) => series.includes('image_pulls')),
      [],
    );
  });

  it('show the smoke tests of new nodes, and none for a pool without one', () => {
    const tests = Object.entries(news('a smoke test that fails')).filter(([series]) => series.includes('smoke_tests'));
    assert.deepEqual(Object.fromEntries(tests), {
      'windowspool_smoke_tests{state="waiting"}': 0,
      'windowspool_smoke_tests{state="running"}': 0,
      'windowspool_smoke_tests{state="failed"}': 1,
    });
    assert.deepEqual(
      Object.keys(shown({})).filter((series) => series.includes('smoke_tests')),
      [],
    );
  });

  it('are absent for the node group if there is none', () => {
    const gauges = Object.keys(shown(statesForMetrics['existing nodes'] ?? {}));
    assert.deepEqual(
      gauges.filter((series) => /node_group|update|drift|_min|_max|_desired/.test(series)),
      [],
    );
  });

  it('have only values of their catalogue and unique series, for any observed state', () => {
    fc.assert(
      fc.property(randomObservedState, (s) => {
        const samples = samplesFor(s);
        const series = samples.map((sample) => seriesOf(sample)[0]);
        assert.deepEqual([...new Set(series)], series);
        for (const { metric, labels, value } of samples) {
          assert.ok(Number.isFinite(value), metric);
          for (const [label, text] of Object.entries(labels)) {
            const declared = (poolMetrics[metric].labels as Record<string, object>)[label];
            assert.ok(declared, `${metric} has no label ${label}`);
            if ('values' in declared)
              assert.ok((declared.values as string[]).includes(text), `${metric} ${label}=${text}`);
          }
        }
      }),
    );
  });
});

describe('the number of series', () => {
  /** Nodes that differ in all properties. */
  const nodes = (count: number): NodeRecord[] =>
    Array.from({ length: count }, (_, i) =>
      sampleNode({
        name: `ip-${i}`,
        kernelVersion: i % 3 === 0 ? `text ${i}` : `10.0.20348.${i}`,
        ready: i % 5 === 0 ? 'False' : 'True',
        readyReason: `Reason${i}`,
        kubeletVersion: `v1.${i % 90}.0`,
        containerRuntimeVersion: i % 7 === 0 ? `docker://${i}` : 'containerd://2.1.6',
        taints: i % 2 === 0 ? [] : [{ key: `other-${i}`, effect: 'NoSchedule' }],
      }),
    );

  it('does not depend on the number of nodes', () => {
    const few = Object.keys(shown({ nodes: nodes(100) })).length;
    const many = Object.keys(shown({ nodes: nodes(10_000) })).length;
    assert.deepEqual([many, many < 120], [few, true]);
  });
});
