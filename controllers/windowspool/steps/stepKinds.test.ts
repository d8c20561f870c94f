import assert from 'node:assert/strict';
import type { Step } from '../model/steps.ts';
import type { ConfigChange } from '../ports/eks.ts';
import { describeChange } from '../providers/nodeGroup/steps/describeChange.ts';
import { runtimeClassFor } from '../runtimeClass/runtimeClass.ts';
import {
  newNodeGroup,
  sampleGroup,
  sampleNode,
  sampleNodePod,
  samplePool,
  sampleRuntimeClass,
  sampleState,
} from '../testing/fixtures.ts';
import { textTable } from '../testing/goldenTexts.ts';
import { newNode, pulling } from '../testing/nodePodScenes.ts';
import { stepInWords } from '../testing/stepInWords.ts';
import { describeDone, describeStep } from './stepKinds.ts';

const check = textTable('stepDescriptions');

const pool = samplePool();
const rc = runtimeClassFor(pool) ?? assert.fail('the pool has a RuntimeClass');
const podFor = (name: string) => {
  const need = sampleState({ pool: samplePool(pulling), nodes: [newNode({ name })] }).poolNodes.podNeeds[0];
  return need?.next ?? assert.fail('the node needs no pod');
};
const ahead = { cluster: { name: 'prod', arn: 'arn' }, nodeGroupName: 'web', tagKeys: [] };

describe('the description of a step', () => {
  const table: readonly (readonly [Step, args: readonly string[] | undefined])[] = [
    [{ kind: 'addFinalizer' }, undefined],
    [{ kind: 'removeFinalizer' }, undefined],
    [{ kind: 'writeAhead', ahead }, undefined],
    [
      { kind: 'createNodeGroup', desired: newNodeGroup(pool), token: 't' },
      ['web', 'WINDOWS_CORE_2022_x86_64', 'm5.large', '3 nodes', '3 to 5'],
    ],
    [
      {
        kind: 'createNodeGroup',
        desired: newNodeGroup(samplePool({ nodeGroup: { scaling: { minSize: 1, maxSize: 1 } } })),
        token: 't',
      },
      ['web', 'WINDOWS_CORE_2022_x86_64', 'm5.large', '1 node', '1 to 1'],
    ],
    [
      { kind: 'updateConfig', group: 'web', change: { scaling: { maxSize: 9 } }, token: 't', target: 'x' },
      ['web', 'maxSize'],
    ],
    [
      {
        kind: 'updateNodeGroupVersion',
        group: 'web',
        change: { kubernetesVersion: '1.36', releaseVersion: 'r', force: true },
        token: 't',
        target: 'x',
      },
      ['web', 'r, forced'],
    ],
    [{ kind: 'correctTags', group: sampleGroup(), change: { set: { a: '1', b: '2' }, remove: ['c'] } }, ['web']],
    [{ kind: 'correctTags', group: sampleGroup(), change: { set: {}, remove: ['c'] } }, ['web']],
    [{ kind: 'deleteNodeGroup', group: 'web', why: 'the pool is deleted' }, ['web']],
    [{ kind: 'switchNodeGroup', ahead, text: 'replace node group web' }, ['web']],
    [{ kind: 'beginDraining', ahead, text: 'drain the 2 nodes' }, ['2 nodes']],
    [{ kind: 'beginCanary', ahead, text: 'try release 1.36-2026.03.17' }, ['1.36-2026.03.17']],
    [{ kind: 'endCanary', ahead, text: 'drain the 2 nodes' }, ['2 nodes']],
    [
      { kind: 'createCanary', desired: { ...newNodeGroup(samplePool()), name: 'web-2' }, token: 't' },
      ['web-2', '3 nodes'],
    ],
    [
      { kind: 'shrinkSecondGroup', group: 'web', change: { scaling: { minSize: 0, maxSize: 2 } }, token: 't' },
      ['web', 'minSize', 'maxSize'],
    ],
    [{ kind: 'deleteSecondGroup', group: 'web', why: 'node group web-2 replaces it', isDrained: true }, ['web-2']],
    [
      {
        kind: 'giveUpNode',
        node: sampleNode({ name: 'ip-1' }),
        entry: {
          name: 'ip-1',
          uid: 'u',
          instanceID: 'i-1',
          operation: 'DrainNodeGroup',
          startTime: '2026-03-01T12:00:00Z',
        },
        why: '1 pod left',
      },
      ['node ip-1', '1 pod'],
    ],
    [{ kind: 'createRuntimeClass', desired: rc }, ['windows-2022']],
    [{ kind: 'applyRuntimeClass', desired: rc, seen: sampleRuntimeClass() }, ['windows-2022']],
    [{ kind: 'shareRuntimeClass', seen: sampleRuntimeClass() }, ['windows-2022']],
    [{ kind: 'releaseRuntimeClass', seen: sampleRuntimeClass() }, ['windows-2022']],
    [{ kind: 'deleteRuntimeClass', seen: sampleRuntimeClass() }, ['windows-2022']],
    [
      { kind: 'labelNode', node: sampleNode({ name: 'ip-1' }), build: '10.0.20348' },
      ['node ip-1', 'node.kubernetes.io/windows-build=10.0.20348'],
    ],
    [
      {
        kind: 'taintNode',
        node: sampleNode({ name: 'ip-1' }),
        change: {
          set: [{ key: 'example.com/held', value: 'WrongBuild', effect: 'NoSchedule' }],
          remove: [{ key: 'example.com/new', effect: 'NoSchedule' }],
        },
      },
      ['node ip-1', 'example.com/held:NoSchedule', 'example.com/new:NoSchedule'],
    ],
    [
      {
        kind: 'createNodePod',
        node: sampleNode({ name: 'ip-1' }),
        pod: { ...podFor('ip-1'), containers: [{ name: 'pull', image: 'example.com/web:1', command: [] }] },
      },
      ['example.com/web:1', 'node ip-1'],
    ],
    [
      {
        kind: 'createNodePod',
        node: sampleNode({ name: 'ip-1' }),
        pod: { ...podFor('ip-1'), purpose: 'smoke-test' },
      },
      ['node ip-1'],
    ],
    [
      { kind: 'deleteNodePod', pod: sampleNodePod({ name: 'image-pull-a-1', node: 'ip-1' }) },
      ['image-pull-a-1', 'node ip-1'],
    ],
  ];
  for (const [step, args] of table) {
    const texts = () => {
      const description = describeStep(step);
      return description === undefined ? [] : [`${step.kind}: ${description}\n  in events: ${describeDone(step)}`];
    };
    const title = args ? stepInWords(step) : `is absent for ${step.kind}, which only changes the operator's own status`;
    check(title, texts, args ? [[step.kind, ...args]] : []);
  }
});

describe('the description of a change', () => {
  const table: readonly (readonly [ConfigChange, string])[] = [
    [{ labels: { set: { team: 'a', tier: 'b' }, remove: [] } }, 'labels set team, tier'],
    [{ labels: { set: { team: 'a' }, remove: ['tier'] } }, 'labels set team remove tier'],
    [
      { taints: { set: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }], remove: [] } },
      'taints set os:NoSchedule',
    ],
    [{ taints: { set: [], remove: [{ key: 'gpu', effect: 'NoExecute' }] } }, 'taints remove gpu:NoExecute'],
    [{ update: { maxUnavailable: '33%', strategy: 'Minimal' } }, 'update maxUnavailable 33%, strategy Minimal'],
    [{ scaling: { minSize: 2, maxSize: 9, desiredSize: 4 } }, 'scaling minSize 2, maxSize 9, desiredSize 4'],
    [
      {
        labels: { set: {}, remove: ['tier'] },
        taints: { set: [], remove: [{ key: 'gpu', effect: 'NoExecute' }] },
        scaling: { maxSize: 9 },
      },
      'labels remove tier; taints remove gpu:NoExecute; scaling maxSize 9',
    ],
  ];
  for (const [change, want] of table) it(want, () => assert.equal(describeChange(change), want));
});
