import assert from 'node:assert/strict';
import type { NodeRecord } from '../ports/nodes.ts';
import { sampleNode } from '../testing/fixtures.ts';
import { isUnavailable } from './nodeAnnotations.ts';

const tainted = (key: string): Partial<NodeRecord> => ({ taints: [{ key, value: '1', effect: 'NoSchedule' }] });

describe('a node', () => {
  const cases: readonly [what: string, change: Partial<NodeRecord>, unavailable: boolean][] = [
    ['that is healthy', {}, false],
    ['that is cordoned', { unschedulable: true }, true],
    ['that is not Ready', { ready: 'Unknown' }, true],
    ['that the cluster-autoscaler removes', tainted('ToBeDeletedByClusterAutoscaler'), true],
    ['that the cluster-autoscaler may remove later', tainted('DeletionCandidateOfClusterAutoscaler'), false],
    ['that Karpenter disrupts', tainted('karpenter.sh/disrupted'), true],
    ['that an older Karpenter disrupts', tainted('karpenter.sh/disruption'), true],
    ['that is out of service', tainted('node.kubernetes.io/out-of-service'), true],
    ['that a NodeReadinessRule keeps pods off', tainted('readiness.k8s.io/network'), true],
    [
      'that a NodeReadinessRule makes less preferred',
      { taints: [{ key: 'readiness.k8s.io/network', effect: 'PreferNoSchedule' }] },
      false,
    ],
    ['with a taint of its users', tainted('dedicated'), false],
  ];
  for (const [what, change, unavailable] of cases) {
    it(`${what} ${unavailable ? 'takes from' : 'does not take from'} the number that may be unavailable`, () => {
      assert.equal(isUnavailable(sampleNode(change)), unavailable);
    });
  }
});
