import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { NodePodNeed } from '../model/nodePodNeeds.ts';
import type { Expectation } from '../model/poolNodesView.ts';
import { verifyNode } from '../nodes/verify.ts';
import { foreignText } from '../ports/foreignText.ts';
import type { NodePod } from '../ports/nodePods.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { NOW, type SpecChange, sampleExpectation, sampleNode, samplePool } from '../testing/fixtures.ts';
import {
  CORE,
  CREATING,
  NO_DNS,
  newcomer,
  newNode,
  PASSED,
  PRE_PULL,
  PULL_ERROR,
  PULLED,
  pulling,
  pullName,
  pullPod,
  requesting,
  TEST,
  TIMED_OUT,
  testing,
  testName,
  testPod,
  WEB,
} from '../testing/nodePodScenes.ts';
import { randomNodePods } from '../testing/randomNodePods.ts';
import { needOf } from './need.ts';
import { preparationOf } from './preparation.ts';

/** Images to pull and a test. */
const both: SpecChange = { verification: { ...pulling.verification, smokeTest: TEST } };
const expecting = (spec: SpecChange = pulling, rest: Partial<Expectation> = {}) => sampleExpectation(spec, rest);

function needFor(
  pods: readonly NodePod[],
  node: NodeRecord = newcomer,
  expected = expecting(),
  now = NOW,
): NodePodNeed | undefined {
  const preparation = preparationOf(node, expected.spec.verification, pods, now);
  return needOf({ ...verifyNode(node, expected, now, preparation), preparation }, expected, pods, now);
}

/** The names of the pods that stay and of the next one, and the seconds until a change. */
function shown(need: NodePodNeed | undefined) {
  if (!need) return undefined;
  const { keep, next, nextAt } = need;
  const inSeconds = nextAt === Number.POSITIVE_INFINITY ? undefined : (nextAt - NOW) / 1_000;
  return { keep: [...keep], next: next?.name, in: inSeconds };
}

describe('the pods that a node needs', () => {
  const over = { phase: 'Failed', isScheduled: true, changedAt: NOW - 4_000 };
  const [first, second] = [pullName(CORE), pullName(CORE, 2)];
  const table: readonly (readonly [string, ReturnType<typeof shown>, ReturnType<typeof shown>])[] = [
    ['start with the first image', shown(needFor([])), { keep: [], next: first, in: undefined }],
    ['are one at a time', shown(needFor([pullPod(CORE, CREATING)])), { keep: [first], next: undefined, in: 1_740 }],
    [
      'are those of images that it lacks',
      shown(needFor([], newNode({ images: [CORE] }))),
      { keep: [], next: pullName(WEB), in: undefined },
    ],
    [
      'do not start before its images were read',
      shown(needFor([], newNode({ images: undefined }))),
      { keep: [], next: undefined, in: undefined },
    ],
    [
      'stay while its images are read again',
      shown(needFor([pullPod(CORE, PULLED), testPod(CREATING)], newNode({ images: undefined }), expecting(both))),
      { keep: [pullName(CORE), testName()], next: undefined, in: 540 },
    ],
    [
      'are repeated after a failure, when the delay is over',
      shown(needFor([pullPod(CORE, { ...TIMED_OUT, changedAt: NOW - 10_000 })])),
      { keep: [first], next: second, in: undefined },
    ],
    [
      'are those of the next image during the delay',
      shown(needFor([pullPod(CORE, { ...TIMED_OUT, changedAt: NOW - 4_000 })])),
      { keep: [first], next: pullName(WEB), in: 6 },
    ],
    [
      'are kept after a failure until the next attempt shows something',
      shown(needFor([pullPod(CORE, { ...PULL_ERROR, ...over }), pullPod(CORE, CREATING, 2)])),
      { keep: [second, first], next: undefined, in: 1_740 },
    ],
    [
      'are not kept when the next attempt failed, too',
      shown(needFor([pullPod(CORE, { ...PULL_ERROR, ...over }), pullPod(CORE, PULL_ERROR, 2)])),
      { keep: [second], next: undefined, in: 1_740 },
    ],
    [
      'are replaced by those of other Secrets',
      shown(
        needFor(
          [pullPod(CORE, CREATING)],
          newcomer,
          expecting({
            verification: {
              ...pulling.verification,
              imagePrePull: { timeout: '30m', imagePullSecrets: [{ name: 'registry' }] },
            },
          }),
        ),
      ),
      { keep: [], next: undefined, in: undefined },
    ],
    [
      'are kept when only the timeout changes',
      shown(
        needFor(
          [pullPod(CORE, CREATING)],
          newcomer,
          expecting({ verification: { ...pulling.verification, imagePrePull: { timeout: '1h' } } }),
        ),
      ),
      { keep: [first], next: undefined, in: 3_540 },
    ],
    [
      'wait for a node that is not Ready',
      shown(needFor([], newNode({ ready: 'False', readyReason: 'KubeletNotReady' }))),
      { keep: [], next: undefined, in: undefined },
    ],
    [
      'wait for a node of another build',
      shown(
        needFor(
          [],
          newNode({
            kernelVersion: '10.0.17763.1',
            labels: { ...newcomer.labels, 'node.kubernetes.io/windows-build': '10.0.17763' },
          }),
        ),
      ),
      { keep: [], next: undefined, in: undefined },
    ],
    [
      'do not wait for a condition that an agent sets',
      shown(
        needFor(
          [],
          newcomer,
          expecting({
            verification: { ...pulling.verification, requiredConditions: [{ type: 'Agent', status: 'True' }] },
          }),
        ),
      ),
      { keep: [], next: first, in: undefined },
    ],
    [
      'are kept until the condition shows that they are not needed',
      shown(needFor([pullPod(CORE, PULLED), pullPod(WEB, PULLED)])),
      { keep: [first, pullName(WEB)], next: undefined, in: undefined },
    ],
    ['are none after that', shown(needFor([pullPod(CORE, PULLED)], sampleNode({ name: 'ip-new' }))), undefined],
    ['are none on a cordoned node', shown(needFor([], newNode({ unschedulable: true }))), undefined],
    [
      'are none if the operator does not pull',
      shown(needFor([], newcomer, expecting({ verification: { policy: 'Report', requiredImages: [CORE] } }))),
      undefined,
    ],
    [
      'are none in a pool that is being deleted',
      shown(needFor([], newcomer, expecting(pulling, { reportedBy: undefined }))),
      undefined,
    ],
  ];
  for (const [name, found, want] of table) it(name, () => assert.deepEqual(found, want));

  it('are recreated when a taint came that they do not tolerate, and they are not scheduled', () => {
    const held = newNode({ taints: [...newcomer.taints, { key: 'readiness.k8s.io/agent', effect: 'NoSchedule' }] });
    assert.deepEqual(shown(needFor([pullPod(CORE)], held))?.keep, []);
    assert.deepEqual(shown(needFor([pullPod(CORE, CREATING)], held))?.keep, [first]);
    assert.deepEqual(
      shown(needFor([pullPod(CORE, { tolerates: ['readiness.k8s.io/agent', ...pullPod(CORE).tolerates] })], held))
        ?.keep,
      [first],
    );
  });

  it('are recreated at most every 10 seconds when an admission webhook removes their tolerations', () => {
    const stripped = (ageMs: number) => shown(needFor([pullPod(CORE, { tolerates: [], createdAt: NOW - ageMs })]));
    assert.deepEqual([stripped(4_000)?.keep, stripped(4_000)?.in], [[first], 6]);
    assert.deepEqual(stripped(10_000)?.keep, []);
  });

  it('are not repeated after a number that no operator reaches, which a kubelet can forge', () => {
    const forged = (attempt: number) => shown(needFor([pullPod(CORE, { ...TIMED_OUT, changedAt: 0 }, attempt)]));
    assert.deepEqual([forged(999_998)?.next, forged(999_999)?.next], [pullName(CORE, 999_999), pullName(WEB)]);
    for (const number of [0, 1_000_000, Number.MAX_SAFE_INTEGER, 1e21]) assert.deepEqual(forged(number)?.next, first);
    const others = ['01', '0x1', '1.0', ' 1', ''].map((end) => ({ ...pullPod(CORE), name: first.replace(/1$/, end) }));
    assert.deepEqual(shown(needFor(others))?.keep, []);
  });

  it('are repeated at once when the user asks for it', () => {
    const asked = expecting(pulling, { retry: '1' });
    const ended = pullPod(CORE, { ...TIMED_OUT, changedAt: NOW });
    assert.deepEqual(shown(needFor([ended], newcomer, asked))?.next, second);
    const failing = pullPod(CORE, PULL_ERROR);
    assert.deepEqual(shown(needFor([failing], newcomer, asked))?.keep, []);
    assert.deepEqual(shown(needFor([{ ...failing, retry: '1' }], newcomer, asked))?.keep, [first]);
    const pullingNow = pullPod(CORE, CREATING);
    assert.deepEqual(shown(needFor([pullingNow], newcomer, asked))?.keep, [first]);
  });

  it('are repeated once for each request, also if its text is cut or cleaned when the pod is read', () => {
    for (const retry of ['now\n', 'x'.repeat(1_000)]) {
      const asked = expecting(pulling, { retry });
      const pod = needFor([], newcomer, asked)?.next ?? assert.fail();
      const read = pullPod(CORE, { retry: foreignText(pod.retry), ...PULL_ERROR });
      assert.deepEqual(shown(needFor([read], newcomer, asked))?.keep, [first], JSON.stringify(retry));
    }
  });

  it('tolerate the taints of the operator, of the pool and of NodeReadinessRules, and no others', () => {
    const spec: SpecChange = {
      verification: { ...pulling.verification, policy: 'Gate', readinessTaint: 'readiness.k8s.io/web' },
      taints: [{ key: 'team', value: 'web', effect: 'NoSchedule' }],
    };
    const node = newNode({
      taints: [
        ...newcomer.taints,
        { key: 'readiness.k8s.io/agent', effect: 'NoExecute' },
        { key: 'other', effect: 'NoSchedule' },
      ],
    });
    assert.deepEqual(needFor([], node, expecting(spec))?.next, {
      name: pullName(CORE),
      purpose: 'image-pull',
      pool: 'web',
      node: { name: 'ip-new', uid: 'uid-ip-new' },
      containers: [{ name: 'pull', image: CORE, command: ['cmd.exe', '/c', 'exit'] }],
      imagePullSecrets: [],
      tolerations: [
        { key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' },
        { key: 'os', operator: 'Equal', value: 'Windows', effect: 'NoSchedule' },
        { key: 'startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate', operator: 'Exists' },
        { key: 'winpool.dev/unverified', operator: 'Exists' },
        { key: 'status-taint.cluster-autoscaler.kubernetes.io/winpool-quarantine', operator: 'Exists' },
        { key: 'readiness.k8s.io/web', operator: 'Exists' },
        { key: 'readiness.k8s.io/agent', operator: 'Exists' },
        { key: 'team', operator: 'Equal', value: 'web', effect: 'NoSchedule' },
      ],
      deadlineSeconds: 1_800,
      retry: '',
    });
  });

  it('have names that Kubernetes accepts, different for each node, image and list of Secrets', () => {
    const secrets = { ...PRE_PULL, imagePullSecrets: [{ name: 'registry' }] };
    const names = [
      pullName(CORE),
      pullName(WEB),
      pullName(CORE, 1, newNode({ uid: 'other' })),
      pullName(CORE, 1, newcomer, secrets),
      pullName(CORE, 123_456),
    ];
    assert.equal(new Set(names).size, names.length);
    for (const name of names) assert.match(name, /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
    assert.equal(pullName('nginx'), pullName('docker.io/library/nginx:latest'));
  });

  it('are at most one new pod, which does not exist, whatever the pods show', () => {
    const spec = { verification: { ...pulling.verification, smokeTest: TEST } };
    const pool = samplePool(spec);
    fc.assert(
      fc.property(randomNodePods(pool, [newcomer]), (view) => {
        const pods = view.kind === 'seen' ? view.pods : [];
        const need = needFor(pods, newcomer, expecting(spec));
        if (!need) return;
        const known = new Set(pods.map(({ name }) => name));
        for (const name of need.keep) assert.ok(known.has(name), `${name} does not exist`);
        if (need.next)
          assert.ok(
            !known.has(need.next.name) || pods.some(({ name, deleting }) => deleting && name === need.next?.name),
          );
        assert.ok(need.nextAt > NOW);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the pod that tests a node', () => {
  const [first, second] = [testName(), testName(2)];
  const pulled = [pullPod(CORE, PULLED), pullPod(WEB, PULLED)];
  const names = pulled.map(({ name }) => name);
  const test = (pods: readonly NodePod[], node = newcomer, spec = testing) =>
    shown(needFor(pods, node, expecting(spec)));
  const table: readonly (readonly [string, ReturnType<typeof shown>, ReturnType<typeof shown>])[] = [
    ['is created on a new node', test([]), { keep: [], next: first, in: undefined }],
    [
      'is the only one until it has ended',
      test([testPod(requesting('Running', { kind: 'running' }))]),
      { keep: [first], next: undefined, in: 540 },
    ],
    [
      'waits until the images are pulled',
      test([pullPod(CORE, CREATING)], newcomer, both),
      { keep: [pullName(CORE)], next: undefined, in: 1_740 },
    ],
    ['follows the last image', test(pulled, newcomer, both), { keep: names, next: first, in: undefined }],
    [
      'waits for images that the operator does not pull',
      test([], newcomer, { verification: { policy: 'Report', requiredImages: [CORE], smokeTest: TEST } }),
      { keep: [], next: undefined, in: undefined },
    ],
    [
      'is repeated after a failure, when the delay is over',
      test([testPod({ ...NO_DNS, changedAt: NOW - 10_000 })]),
      { keep: [first], next: second, in: undefined },
    ],
    [
      'is not repeated before',
      test([testPod({ ...NO_DNS, changedAt: NOW - 4_000 })]),
      { keep: [first], next: undefined, in: 6 },
    ],
    [
      'stays after a failure until the next has ended',
      test([testPod(NO_DNS), testPod(CREATING, 2)]),
      { keep: [second, first], next: undefined, in: 540 },
    ],
    [
      'stays until the condition shows that the node has passed',
      test([testPod(PASSED)]),
      { keep: [first], next: undefined, in: undefined },
    ],
    ['is not needed after that', test([testPod(PASSED)], sampleNode({ name: 'ip-new' })), undefined],
  ];
  for (const [name, found, want] of table) it(name, () => assert.deepEqual(found, want));

  it('has the container, the deadline and the Secrets of the test', () => {
    const secret = { verification: { smokeTest: { ...TEST, imagePullSecrets: [{ name: 'registry' }] } } };
    const { purpose, containers, deadlineSeconds, imagePullSecrets } =
      needFor([], newcomer, expecting(secret))?.next ?? assert.fail();
    assert.deepEqual(
      [purpose, containers.map(({ name }) => name), deadlineSeconds, imagePullSecrets],
      ['smoke-test', ['service'], 600, ['registry']],
    );
  });

  it('is another one for another image, URL or list of Secrets', () => {
    const tests = [
      TEST,
      { ...TEST, image: CORE },
      { ...TEST, serviceURL: 'http://a' },
      { ...TEST, imagePullSecrets: [{ name: 'a' }] },
    ];
    assert.equal(new Set(tests.map((each) => testName(1, newcomer, each))).size, tests.length);
    assert.equal(testName(1, newcomer, { ...TEST, timeout: '1h' }), testName());
  });
});
