import assert from 'node:assert/strict';
import { faultInWords } from './faultInWords.ts';

describe('a fault that EKS reports', () => {
  const EVICTION = 'Reached max retries while trying to evict pods from nodes in node group web';
  const rows: readonly (readonly [
    what: string,
    code: string,
    message: string,
    ids: readonly string[],
    want: string | undefined,
  ])[] = [
    [
      'has fewer words for an instance that did not join',
      'NodeCreationFailure',
      'Instances failed to join the kubernetes cluster',
      ['i-1'],
      'instance i-1 did not join the cluster (NodeCreationFailure)',
    ],
    [
      'has fewer words for several instances',
      'NodeCreationFailure',
      'Instances failed to join the cluster.',
      ['i-1', 'i-2'],
      'instances i-1 and i-2 did not join the cluster (NodeCreationFailure)',
    ],
    [
      'has fewer words for nodes that were not drained',
      'PodEvictionFailure',
      EVICTION,
      ['ip-1', 'ip-2'],
      '2 nodes were not drained (PodEvictionFailure)',
    ],
    ['keeps the words of EKS if it names no object', 'PodEvictionFailure', EVICTION, [], undefined],
    ['keeps the words of EKS in another form', 'PodEvictionFailure', `${EVICTION}: timeout`, ['ip-1'], undefined],
    ['keeps the words of EKS with another code', 'Unknown', EVICTION, ['ip-1'], undefined],
  ];
  for (const [what, code, message, resourceIds, want] of rows)
    it(what, () => assert.equal(faultInWords({ code, message, resourceIds }), want));
});
