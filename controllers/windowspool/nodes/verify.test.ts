import assert from 'node:assert/strict';
import type { WindowsPoolSpec } from '../api/api.gen.ts';
import type { NodeCheck } from '../api/reasons.ts';
import type { Expectation, VerificationResult } from '../model/poolNodesView.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { MINUTE, NOW, sampleExpectation, sampleNode } from '../testing/fixtures.ts';
import { assertBriefs, type Brief, textTable } from '../testing/goldenTexts.ts';
import { withReport } from '../testing/nodeReports.ts';
import { reportFor } from './nodeCondition.ts';
import { GATE_TAINT } from './nodeTaints.ts';
import { graceEnd, verifyNode } from './verify.ts';
import { POD_ADDRESSES } from './windowsVersions.ts';

const check = textTable('nodes');

const BUILD = 'node.kubernetes.io/windows-build';

/** The verification result without the node. */
function resultFor(
  change: Partial<NodeRecord>,
  expected: Expectation = sampleExpectation(),
): Omit<VerificationResult, 'node'> {
  const { state, failures, warnings } = verifyNode(sampleNode(change), expected, NOW);
  return { state, failures, warnings };
}

/** As `reason: message`. */
function textsOf(findings: VerificationResult['failures']): string[] {
  return findings.map(({ reason, message }) => `${reason}: ${message}`);
}

const verified = { state: 'verified', failures: [], warnings: [] } as const;

function labelled(labels: Record<string, string>): Partial<NodeRecord> {
  return { labels: { ...sampleNode().labels, ...labels } };
}

function without(...keys: string[]): Partial<NodeRecord> {
  return { labels: Object.fromEntries(Object.entries(sampleNode().labels).filter(([key]) => !keys.includes(key))) };
}

function onKernel(kernelVersion: string, build: string): Partial<NodeRecord> {
  return { kernelVersion, ...labelled({ [BUILD]: build }) };
}

const cases2019 = sampleExpectation({ windowsVersion: 'Windows2019' });
const cases2025 = sampleExpectation({ windowsVersion: 'Windows2025' });
const eol2019 = on2019('v1.35.1');
const littleReserved = { capacity: { memory: '8Gi' }, allocatable: { memory: '7692Mi', [POD_ADDRESSES]: '9' } };
const reserving = sampleExpectation({ verification: { policy: 'Report', minimumReservedMemory: '2Gi' } });

type Conditions = NonNullable<WindowsPoolSpec['verification']['requiredConditions']>;

function failingWith(...unhealthyConditions: Conditions): Expectation {
  return sampleExpectation({ verification: { policy: 'Report', unhealthyConditions } });
}

function requiring(type: string): Expectation {
  return sampleExpectation({ verification: { policy: 'Report', requiredConditions: [{ type, status: 'True' }] } });
}

/** A pool of existing nodes of a Windows version. */
function elsewhere(windowsVersion: WindowsPoolSpec['windowsVersion'], serverVersion = 'v1.36.3'): Expectation {
  return sampleExpectation({ windowsVersion }, { owner: 'web', serverVersion });
}

function on2019(kubeletVersion: string): Partial<NodeRecord> {
  return { kubeletVersion, ...onKernel('10.0.17763.6293', '10.0.17763') };
}

const floor = sampleExpectation({ verification: { policy: 'Report', minimumRevision: 2340 } });

describe('a node passes verification', () => {
  const healthy: readonly (readonly [string, Partial<NodeRecord>, Expectation])[] = [
    ['on EKS, Windows 2022', {}, sampleExpectation()],
    ['on EKS, Windows 2019', onKernel('10.0.17763.6293', '10.0.17763'), cases2019],
    ['on EKS, Windows 2025', onKernel('10.0.26100.32230', '10.0.26100'), cases2025],
    [
      'on EKS with Kubernetes 1.31',
      { kubeletVersion: 'v1.31.1-eks-1b3e656', containerRuntimeVersion: 'containerd://1.7.20' },
      sampleExpectation({}, { serverVersion: 'v1.31.1-eks-ce1d5eb' }),
    ],
    [
      'on AKS',
      {
        kernelVersion: '10.0.20348.3207',
        kubeletVersion: 'v1.34.2',
        containerRuntimeVersion: 'containerd://1.7.20+azure',
        ...labelled({ 'kubernetes.azure.com/os-sku': 'Windows2022' }),
      },
      sampleExpectation(),
    ],
    [
      'on GKE',
      {
        kernelVersion: '10.0.17763.5696',
        kubeletVersion: 'v1.35.1-gke.1396002',
        ...labelled({ [BUILD]: '10.0.17763' }),
      },
      cases2019,
    ],
    ['on kops', { kubeletVersion: 'v1.33.0', containerRuntimeVersion: 'containerd://1.7.28' }, sampleExpectation()],
    ['at exactly the minimum revision', { kernelVersion: '10.0.20348.2340' }, floor],
    ['without a revision if there is no minimum', { kernelVersion: '10.0.20348' }, sampleExpectation()],
    [
      'with the taint of OpenShift',
      { taints: [{ key: 'os', value: 'Windows', effect: 'NoSchedule' }] },
      sampleExpectation(),
    ],
    [
      'without the registration taint if the pool does not require it',
      { taints: [] },
      sampleExpectation({ registrationTaint: 'None' }),
    ],
    ['with a kubelet three minor versions old', { kubeletVersion: 'v1.33.9' }, sampleExpectation()],
    [
      'with any kubelet while the version of the API server is unknown',
      { kubeletVersion: 'v1.20.0' },
      sampleExpectation({}, { serverVersion: undefined }),
    ],
    ['with a kubelet version that cannot be parsed', { kubeletVersion: 'dev' }, sampleExpectation()],
    ['without reported runtime handlers', { runtimeHandlers: [] }, sampleExpectation()],
    ['with prefix delegation', { allocatable: { memory: '6291456Ki', [POD_ADDRESSES]: '144' } }, sampleExpectation()],
    [
      'without a reported memory capacity',
      { capacity: {}, allocatable: { [POD_ADDRESSES]: '9' } },
      sampleExpectation(),
    ],
    ['with the 500 MiB that EKS nodes reserve', littleReserved, sampleExpectation()],
    [
      'with exactly the minimum of reserved memory',
      { capacity: { memory: '8Gi' }, allocatable: { memory: '6Gi', [POD_ADDRESSES]: '9' } },
      reserving,
    ],
    ['without a reported memory capacity if the pool has a minimum', { capacity: {} }, reserving],
    ['on EKS with any combination of Kubernetes and Windows, which is a prerequisite', eol2019, cases2019],
    ['elsewhere with a kubelet version that cannot be parsed', { kubeletVersion: 'dev' }, elsewhere('Windows2022')],
    [
      'elsewhere with the last Kubernetes version that supports its Windows version',
      on2019('v1.34.9'),
      elsewhere('Windows2019', 'v1.34.9'),
    ],
  ];
  for (const [name, change, expected] of healthy) {
    it(name, () => assert.deepEqual(resultFor(change, expected), verified));
  }
});

describe('a node fails verification', () => {
  const failing: readonly (readonly [string, Partial<NodeRecord>, Expectation, readonly Brief[]])[] = [
    [
      'with the Windows label and another operating system',
      {
        ...labelled({ 'kubernetes.io/arch': 'arm64' }),
        kernelVersion: '6.1.112-122.189.amzn2023.x86_64',
      },
      sampleExpectation(),
      [
        ['WrongArchitecture', 'kubernetes.io/arch=arm64', 'amd64'],
        ['UnknownKernelVersion', '6.1.112-122.189.amzn2023.x86_64', '10.0.BUILD.REVISION'],
      ],
    ],
    [
      'without an architecture',
      { ...without('kubernetes.io/arch'), architecture: '' },
      sampleExpectation(),
      [['WrongArchitecture', 'kubernetes.io/arch=amd64']],
    ],
    ['without a kernel version', { kernelVersion: '' }, floor, [['UnknownKernelVersion', '10.0.BUILD.REVISION']]],
    [
      'with a newer Windows version',
      onKernel('10.0.26100.32230', '10.0.26100'),
      sampleExpectation(),
      [['WrongBuild', '2025', '10.0.26100', '2022', '10.0.20348']],
    ],
    [
      'with a retired Windows build',
      onKernel('10.0.19042.1889', '10.0.19042'),
      sampleExpectation(),
      [['WrongBuild', '10.0.19042', '2022', '10.0.20348']],
    ],
    [
      'with a revision below the minimum',
      { kernelVersion: '10.0.20348.2339' },
      floor,
      [['RevisionTooLow', '10.0.20348.2339', '2340']],
    ],
    [
      'without a revision if there is a minimum',
      { kernelVersion: '10.0.20348' },
      floor,
      [['RevisionTooLow', '10.0.20348', '2340']],
    ],
    [
      'without the build label, with an old kubelet',
      without(BUILD),
      sampleExpectation(),
      [['BuildLabelMismatch', 'node.kubernetes.io/windows-build', '10.0.20348']],
    ],
    [
      'with a build label of the node group',
      labelled({ [BUILD]: '10.0.17763' }),
      sampleExpectation(),
      [['BuildLabelMismatch', 'node.kubernetes.io/windows-build=10.0.17763', '10.0.20348']],
    ],
    ...(
      [
        ['without the registration taint', []],
        ['with another effect of the taint', [{ key: 'os', value: 'windows', effect: 'PreferNoSchedule' }]],
        ['with another value of the taint', [{ key: 'os', value: 'linux', effect: 'NoSchedule' }]],
        ['with the taint without a value', [{ key: 'os', effect: 'NoSchedule' }]],
        ['with the taint that evicts pods', [{ key: 'os', value: 'windows', effect: 'NoExecute' }]],
        [
          'with the taint of Google Distributed Cloud',
          [{ key: 'node.kubernetes.io/os', value: 'windows', effect: 'NoSchedule' }],
        ],
        ['with the key in upper case', [{ key: 'OS', value: 'Windows', effect: 'NoSchedule' }]],
        ['with a taint of a team', [{ key: 'team', value: 'shop', effect: 'NoSchedule' }]],
      ] as const
    ).map(
      ([name, taints]) =>
        [name, { taints }, sampleExpectation(), [['RegistrationTaintMissing', 'os=windows:NoSchedule']]] as const,
    ),
    [
      'with docker',
      { containerRuntimeVersion: 'docker://20.10.9' },
      sampleExpectation(),
      [['WrongContainerRuntime', 'docker://20.10.9', 'containerd']],
    ],
    [
      'without a container runtime',
      { containerRuntimeVersion: '' },
      sampleExpectation(),
      [['WrongContainerRuntime', 'containerd']],
    ],
    [
      'without the runtime handler of the RuntimeClass',
      { runtimeHandlers: ['', 'runhcs-wcow-process'] },
      sampleExpectation({ runtimeClass: { name: 'isolated', handler: 'runhcs-wcow-hypervisor' } }),
      [['RuntimeHandlerMissing', 'runhcs-wcow-hypervisor', 'status.runtimeHandlers', 'runhcs-wcow-process']],
    ],
    [
      'with only the default runtime handler',
      { runtimeHandlers: [''] },
      sampleExpectation(),
      [['RuntimeHandlerMissing', 'runhcs-wcow-process', 'status.runtimeHandlers']],
    ],
    [
      'with a kubelet newer than the API server',
      { kubeletVersion: 'v1.37.0-eks-1' },
      sampleExpectation(),
      [['KubeletVersionSkew', 'v1.37.0-eks-1', 'v1.36.3']],
    ],
    [
      'with a kubelet four minor versions old',
      { kubeletVersion: 'v1.32.4' },
      sampleExpectation(),
      [['KubeletVersionSkew', 'v1.32.4', 'v1.36.3']],
    ],
    [
      'when it is not Ready',
      { ready: 'Unknown', readyReason: 'NodeStatusUnknown' },
      sampleExpectation(),
      [['NotReady', 'NodeStatusUnknown']],
    ],
    [
      'when it is not Ready, with what the kubelet says and what that means',
      {
        ready: 'False',
        readyReason: 'KubeletNotReady',
        readyMessage: 'Network plugin returns error: cni plugin not initialized',
      },
      sampleExpectation(),
      [['NotReady', 'KubeletNotReady', 'The CNI plugin of the node is not set up.', '(Network plugin returns error']],
    ],
    [
      'when its kubelet no longer reports',
      { ready: 'Unknown', readyReason: 'NodeStatusUnknown', readyMessage: 'Kubelet stopped posting node status.' },
      sampleExpectation(),
      [['NotReady', 'NodeStatusUnknown', 'no longer reports', 'out of memory']],
    ],
    [
      'when containerd is too slow',
      {
        ready: 'False',
        readyReason: 'KubeletNotReady',
        readyMessage: 'PLEG is not healthy: pleg was last seen active … ago; threshold is …',
      },
      sampleExpectation(),
      [['NotReady', 'KubeletNotReady', 'containerd takes more than 3 minutes', '(PLEG is not healthy']],
    ],
    [
      'when it says what is not known here',
      { ready: 'False', readyReason: 'KubeletNotReady', readyMessage: 'CSINode is not yet initialized' },
      sampleExpectation(),
      [['NotReady', 'is not Ready (False, KubeletNotReady): CSINode is not yet initialized']],
    ],
    [
      'when it is not Ready without a reason',
      { ready: 'False', readyReason: '' },
      sampleExpectation(),
      [['NotReady', 'False']],
    ],
    [
      'with a condition of verification.unhealthyConditions',
      { conditions: ['MemoryPressure=False', 'DiskPressure=True'] },
      failingWith({ type: 'KernelDeadlock', status: 'True' }, { type: 'DiskPressure', status: 'True' }),
      [['UnhealthyCondition', 'DiskPressure=True', 'verification.unhealthyConditions']],
    ],
    [
      'with an unknown condition, if verification.unhealthyConditions lists that status',
      { conditions: ['example.com/Agent=Unknown'] },
      failingWith({ type: 'example.com/Agent', status: 'Unknown' }),
      [['UnhealthyCondition', 'example.com/Agent=Unknown', 'verification.unhealthyConditions']],
    ],
    [
      'without a condition of verification.requiredConditions',
      {},
      requiring('example.com/AntivirusReady'),
      [['RequiredConditionMissing', 'example.com/AntivirusReady=True', 'verification.requiredConditions']],
    ],
    [
      'with another status of a condition of verification.requiredConditions',
      { conditions: ['AntivirusReady=False'] },
      requiring('AntivirusReady'),
      [['RequiredConditionMissing', 'AntivirusReady=False', 'AntivirusReady=True', 'verification.requiredConditions']],
    ],
    ...([{}, { [POD_ADDRESSES]: '0' }, { [POD_ADDRESSES]: 'many' }] as Record<string, string>[]).map(
      (allocatable) =>
        [
          `with ${allocatable[POD_ADDRESSES] ?? 'no'} pod addresses`,
          { allocatable },
          sampleExpectation(),
          [['NoPodAddresses', 'vpc.amazonaws.com/PrivateIPv4Address']],
        ] as const,
    ),
  ];
  for (const [name, change, expected, want] of failing) {
    const texts = () => {
      const { state, failures, warnings } = resultFor(change, expected);
      assert.deepEqual([state, warnings], ['failing', []]);
      return textsOf(failures);
    };
    check(name, texts, want);
  }
});

/** The conditions of a node after the operator wrote its verification result. */
function reportOn(change: Partial<NodeRecord>, expected: Expectation): Pick<NodeRecord, 'verified' | 'conditions'> {
  const node = sampleNode(change);
  return withReport(node, reportFor(verifyNode(node, expected, NOW), expected.spec.verification, 'web'));
}

describe('a node of a pool with required images', () => {
  const images = ['mcr.microsoft.com/windows/servercore:ltsc2022', `example.com/app@sha256:${'a'.repeat(64)}`];
  const expected: Expectation = {
    ...sampleExpectation({ verification: { policy: 'Gate', requiredImages: images } }),
    reportedBy: 'web',
  };
  const lacking: Brief = ['ImagesMissing', '1 of 2', 'mcr.microsoft.com/windows/servercore:ltsc2022'];
  const young = { createdAt: NOW, verified: undefined };
  const one = { images: images.slice(1) };
  const failuresOf = (change: Partial<NodeRecord>) => verifyNode(sampleNode(change), expected, NOW).failures;
  const reported = (change: Partial<NodeRecord>) => reportOn(change, expected);

  it('is joining until it has all of them', () => {
    const { state, failures } = verifyNode(sampleNode({ ...young, ...one }), expected, NOW);
    assert.equal(state, 'joining');
    assertBriefs(textsOf(failures), [lacking]);
    assert.equal(verifyNode(sampleNode({ ...young, images }), expected, NOW).state, 'verified');
  });

  it('is joining while they were not read, however long it has existed, and needs them as before', () => {
    const aged = { createdAt: 0, verified: undefined, images: undefined };
    const unread = verifyNode(sampleNode(aged), expected, NOW);
    const message = 'has images that the operator has not read yet (verification.requiredImages)';
    assert.deepEqual(
      [unread.state, unread.failures, graceEnd(unread, expected)],
      ['joining', [{ reason: 'ImagesMissing', message, isUnread: true }], Number.POSITIVE_INFINITY],
    );
    const before = reported(aged);
    assert.equal(reported({ createdAt: 0, ...one, ...before }).verified?.reason, 'ImagesMissing');
    assert.equal(reported({ createdAt: 0, images, ...before }).verified?.status, 'True');
  });

  it('stays verified while they were not read', () => {
    const before = reported({ images, ...reported({ ...young, ...one }) });
    assert.deepEqual(failuresOf({ images: undefined, ...before }), []);
  });

  it('fails without them after the join grace', () => {
    const before = reported({ ...young, ...one });
    assert.equal(reported({ createdAt: 0, ...one, ...before }).verified?.reason, 'ImagesMissing');
  });

  it('stays verified when the kubelet removes them later, also after it has failed for another reason', () => {
    const complete = reported({ images, ...reported({ ...young, ...one }) });
    assert.equal(complete.verified?.status, 'True');
    assert.deepEqual(failuresOf({ images: [], ...complete }), []);
    const failing = reported({ createdAt: 0, images: [], ready: 'False', ...complete });
    assert.deepEqual([failing.verified?.status, failuresOf({ images: [], ...failing })], ['False', []]);
  });

  it('must still have them if it failed for another reason before it had them', () => {
    const notReady = reported({ createdAt: 0, ready: 'False', ...one, ...reported({ ...young, ...one }) });
    assert.equal(notReady.verified?.reason, 'NotReady');
    assertBriefs(textsOf(failuresOf({ createdAt: 0, ...one, ...notReady })), [lacking]);
  });

  it('that failed before the pool required images needs them only behind the gate', () => {
    const verified = { status: 'False', reason: 'NotReady', message: 'WindowsPool web: is not Ready.' } as const;
    assert.deepEqual(failuresOf({ images: [], verified }), []);
    const gated = failuresOf({ images: [], verified, taints: [...sampleNode().taints, GATE_TAINT] });
    assert.deepEqual(
      gated.map(({ reason }) => reason),
      ['ImagesMissing'],
    );
  });

  it('that was verified before the pool required images stays verified', () => {
    const verified = {
      status: 'True',
      reason: 'ChecksPassed',
      message: 'WindowsPool web: passes every check.',
    } as const;
    assert.deepEqual(failuresOf({ images: [], verified }), []);
    const failing = reported({ createdAt: 0, images: [], ready: 'False', verified });
    assert.deepEqual([failing.verified?.status, failuresOf({ images: [], ...failing })], ['False', []]);
  });

  it('must have them if it was not verified yet when the pool began to require them', () => {
    const before = reportOn({ ...young, ready: 'False' }, { ...sampleExpectation(), reportedBy: 'web' });
    assert.deepEqual([before.verified?.reason, failuresOf({ ...young, images: [], ...before }).length], ['Joining', 1]);
  });
});

describe('a new node', () => {
  const joining = { createdAt: NOW - 15 * MINUTE + 1 };
  const late = { createdAt: NOW - 15 * MINUTE };
  const settled = NOW - 2 * MINUTE;
  const incomplete = { ready: 'False', allocatable: {} } as const;
  const table: readonly (readonly [string, Partial<NodeRecord>, VerificationResult['state']])[] = [
    ['is joining until it is Ready and has addresses', { ...joining, ...incomplete }, 'joining'],
    ['fails when it takes longer than the join grace', { ...late, ...incomplete }, 'failing'],
    [
      'fails immediately if a check fails that time does not fix',
      { ...joining, ...incomplete, kernelVersion: '6.1' },
      'failing',
    ],
    ['may lack the taints of its group for two minutes', { createdAt: settled + 1, taints: [] }, 'joining'],
    ['fails without the taints after two minutes', { createdAt: settled, taints: [] }, 'failing'],
    [
      'fails without the taints also while it may still become Ready',
      { ...joining, ...incomplete, taints: [] },
      'failing',
    ],
    ['is verified as soon as all checks pass', joining, 'verified'],
  ];
  it('has no join grace if the VPC resource controller never gives it addresses', () => {
    const node = sampleNode({ ...joining, allocatable: {} });
    const stateWith = (reason: string, message: string) => {
      const { state, failures } = verifyNode(node, sampleExpectation(), NOW, undefined, [{ reason, message }]);
      return [state, failures[0]?.remedy?.includes('nodeGroup.instanceTypes')];
    };
    assert.deepEqual(stateWith('Unsupported', 'The instance type m9.large is not supported for Windows'), [
      'failing',
      true,
    ]);
    assert.deepEqual(stateWith('InsufficientCidrBlocks', 'The subnet does not have enough free cidr blocks'), [
      'joining',
      false,
    ]);
    assert.deepEqual(stateWith('Unsupported', 'for a reason that is not known'), ['joining', undefined]);
  });

  const settling = sampleExpectation({}, { settlingMs: 2 * MINUTE });
  for (const [name, change, want] of table) it(name, () => assert.equal(resultFor(change, settling).state, want));

  it('is joining until an agent has set its required conditions', () => {
    const required = requiring('AntivirusReady');
    const states = [joining, late, { ...joining, conditions: ['AntivirusReady=True'] }];
    assert.deepEqual(
      states.map((change) => resultFor(change, required).state),
      ['joining', 'failing', 'verified'],
    );
  });

  it('fails immediately without the taint if its group does not have it', () =>
    assert.equal(resultFor({ createdAt: NOW, taints: [] }).state, 'failing'));

  it('is verified again when the first grace period ends', () => {
    const end = (change: Partial<NodeRecord>) =>
      graceEnd(verifyNode(sampleNode({ createdAt: NOW, ...change }), settling, NOW), settling);
    assert.equal(end(incomplete), NOW + 15 * MINUTE);
    assert.equal(end({ ...incomplete, taints: [] }), NOW + 2 * MINUTE);
  });
});

describe('a node of a group with a gate', () => {
  const gate = sampleExpectation({ verification: { policy: 'Gate' } });
  const expected: Expectation = { ...gate, taints: { gate: true, quarantine: true }, reportedBy: 'web' };
  const ungated: Brief = ['GateTaintMissing', `${GATE_TAINT.key}:NoSchedule`];
  const young = { createdAt: NOW, ready: 'False', verified: undefined } as const;
  const gated = { taints: [...sampleNode().taints, GATE_TAINT] };
  const warned = (change: Partial<NodeRecord>, of = expected) =>
    textsOf(verifyNode(sampleNode(change), of, NOW).warnings);
  const reported = (change: Partial<NodeRecord>) => reportOn(change, expected);

  it('is reported when it is first seen without the taint, and after that, also when EKS adds the taint late', () => {
    assertBriefs(warned(young), [ungated]);
    const first = reported(young);
    assert.equal(first.verified?.status, 'Unknown');
    assertBriefs(warned({ ...young, ...gated, ...first }), [ungated]);
    const complete = reported({ createdAt: NOW, ...gated, ...first });
    assert.equal(complete.verified?.status, 'True');
    assertBriefs(warned(complete), [ungated]);
    const failing = reported({ ...young, createdAt: 0, ...complete });
    assert.equal(failing.verified?.status, 'False');
    assertBriefs(warned(failing), [ungated]);
  });

  it('is not reported when it joined with the taint, and lost it because it was verified', () => {
    assert.deepEqual(warned({ ...young, ...gated }), []);
    assert.deepEqual(warned({ createdAt: NOW, verified: undefined }), []);
    assert.deepEqual(warned({ ...young, ...reported({ ...young, ...gated }) }), []);
  });

  it('is reported when it joined without the taint of the NodeReadinessRule that the gate is left to', () => {
    const left = {
      ...expected,
      ...sampleExpectation({ verification: { policy: 'Gate', readinessTaint: 'readiness.k8s.io/web' } }),
    };
    const reporting = { ...left, reportedBy: 'web' };
    const held = [...sampleNode().taints, { key: 'readiness.k8s.io/web', effect: 'NoSchedule' as const }];
    assert.deepEqual(warned({ ...young, taints: held }, reporting), []);
    assertBriefs(warned({ ...young, ...gated }, reporting), [['GateTaintMissing', 'readiness.k8s.io/web:NoSchedule']]);
  });

  it('is not reported without the gate', () => assert.deepEqual(warned(young, sampleExpectation()), []));
});

describe('a warning', () => {
  const almost = { ...littleReserved, allocatable: { ...littleReserved.allocatable, memory: '6145Mi' } };
  const table: readonly (readonly [string, Partial<NodeRecord>, Expectation, NodeCheck, readonly string[]])[] = [
    [
      'recommends nodeGroup.kubelet or memory limits for a node group',
      littleReserved,
      reserving,
      'ReservedMemoryTooLow',
      ['500Mi', 'verification.minimumReservedMemory', '2Gi', 'nodeGroup.kubelet.systemReserved'],
    ],
    [
      'recommends systemReserved or memory limits otherwise',
      littleReserved,
      { ...reserving, owner: 'web' },
      'ReservedMemoryTooLow',
      ['500Mi', 'verification.minimumReservedMemory', '2Gi', 'systemReserved'],
    ],
    [
      'rounds the reserved memory down',
      almost,
      reserving,
      'ReservedMemoryTooLow',
      ['2047Mi', 'verification.minimumReservedMemory', '2Gi', 'nodeGroup.kubelet.systemReserved'],
    ],
    [
      'reports a node whose reservations differ from nodeGroup.kubelet',
      littleReserved,
      sampleExpectation({ nodeGroup: { kubelet: { systemReserved: { memory: '2Gi' } } } }),
      'KubeletReservationMismatch',
      ['500Mi', '2048Mi', 'nodeGroup.kubelet'],
    ],
    [
      'reports a node that accepts another number of pods than nodeGroup.kubelet sets',
      { capacity: { pods: '110' } },
      sampleExpectation({ nodeGroup: { kubelet: { maxPods: 30 } } }),
      'MaxPodsMismatch',
      ['110', '30', 'nodeGroup.kubelet'],
    ],
    [
      'reports a Windows version that Kubernetes no longer supports',
      eol2019,
      elsewhere('Windows2019'),
      'UnsupportedWindowsVersion',
      ['v1.35.1', '2019', '1.34'],
    ],
    [
      'reports a kubelet that does not support its Windows version yet',
      { kubeletVersion: 'v1.34.2', ...onKernel('10.0.26100.32230', '10.0.26100') },
      elsewhere('Windows2025'),
      'UnsupportedWindowsVersion',
      ['v1.34.2', '2025', '1.35'],
    ],
    [
      'reports pressure and a network that is unavailable',
      { conditions: ['NetworkUnavailable=True', 'MemoryPressure=True', 'DiskPressure=False'] },
      sampleExpectation(),
      'NodePressure',
      ['MemoryPressure=True', 'NetworkUnavailable=True'],
    ],
  ];
  for (const [name, change, expected, reason, args] of table) {
    const texts = () => {
      const { warnings, ...result } = resultFor(change, expected);
      assert.deepEqual({ ...result, warnings: [] }, verified);
      return textsOf(warnings);
    };
    check(`${name}, and does not fail the node`, texts, [[reason, ...args]]);
  }

  it('replaces the failure of a check in warnOnly, and other checks still fail', () => {
    const expected = sampleExpectation({ verification: { policy: 'Report', warnOnly: ['RegistrationTaintMissing'] } });
    const reasons = (change: Partial<NodeRecord>) => {
      const { state, failures, warnings } = resultFor(change, expected);
      return [state, failures.map(({ reason }) => reason), warnings.map(({ reason }) => reason)];
    };
    assert.deepEqual(reasons({ taints: [] }), ['verified', [], ['RegistrationTaintMissing']]);
    assert.deepEqual(reasons({ taints: [], ready: 'False', readyReason: '' }), [
      'failing',
      ['NotReady'],
      ['RegistrationTaintMissing'],
    ]);
  });
});
