import assert from 'node:assert/strict';
import type { WindowsPoolSpec } from '../api.gen.ts';
import type { Expectation, VerificationResult } from '../model/poolNodes.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { NodeCheck } from '../reasons.ts';
import { MINUTE, NOW, sampleExpectation, sampleNode } from '../testing/fixtures.ts';
import { conditionFor } from './nodeCondition.ts';
import { GATE_TAINT } from './nodeTaints.ts';
import { graceEnd, verifyNode } from './verify.ts';
import { POD_ADDRESSES } from './windows.ts';

const BUILD = 'node.kubernetes.io/windows-build';

/** The verification result without the node. */
function resultFor(
  change: Partial<NodeRecord>,
  expected: Expectation = sampleExpectation(),
): Omit<VerificationResult, 'node'> {
  const { state, failures, warnings } = verifyNode(sampleNode(change), expected, NOW);
  return { state, failures, warnings };
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

function remediating(...conditions: Conditions): Expectation {
  return sampleExpectation({
    remediation: { policy: 'Report', unhealthyAfter: '15m', maxUnhealthy: '40%', conditions },
  });
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
      sampleExpectation({ registrationTaint: false }),
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
  const failing: readonly (readonly [
    string,
    Partial<NodeRecord>,
    Expectation,
    readonly (readonly [string, string])[],
  ])[] = [
    [
      'with the Windows label and another operating system',
      {
        ...labelled({ 'kubernetes.io/arch': 'arm64' }),
        kernelVersion: '6.1.112-122.189.amzn2023.x86_64',
      },
      sampleExpectation(),
      [
        ['WrongArchitecture', 'has the label kubernetes.io/arch=arm64, expected amd64'],
        [
          'UnknownKernelVersion',
          'reports the kernel version "6.1.112-122.189.amzn2023.x86_64", expected a Windows build (10.0.BUILD.REVISION)',
        ],
      ],
    ],
    [
      'without an architecture',
      { ...without('kubernetes.io/arch'), architecture: '' },
      sampleExpectation(),
      [['WrongArchitecture', 'lacks the label kubernetes.io/arch=amd64']],
    ],
    [
      'without a kernel version',
      { kernelVersion: '' },
      floor,
      [['UnknownKernelVersion', 'reports the kernel version "", expected a Windows build (10.0.BUILD.REVISION)']],
    ],
    [
      'with a newer Windows version',
      onKernel('10.0.26100.32230', '10.0.26100'),
      sampleExpectation(),
      [['WrongBuild', 'runs Windows Server 2025 (10.0.26100), expected Windows Server 2022 (10.0.20348)']],
    ],
    [
      'with a retired Windows build',
      onKernel('10.0.19042.1889', '10.0.19042'),
      sampleExpectation(),
      [['WrongBuild', 'runs Windows build 10.0.19042, expected Windows Server 2022 (10.0.20348)']],
    ],
    [
      'with a revision below the minimum',
      { kernelVersion: '10.0.20348.2339' },
      floor,
      [['RevisionTooLow', 'runs 10.0.20348.2339, expected at least revision 2340']],
    ],
    [
      'without a revision if there is a minimum',
      { kernelVersion: '10.0.20348' },
      floor,
      [['RevisionTooLow', 'reports no revision (10.0.20348), expected at least 2340']],
    ],
    [
      'without the build label, with an old kubelet',
      without(BUILD),
      sampleExpectation(),
      [['BuildLabelMismatch', `lacks the label ${BUILD}, expected 10.0.20348: the RuntimeClass selects nodes by it`]],
    ],
    [
      'with a build label of the node group',
      labelled({ [BUILD]: '10.0.17763' }),
      sampleExpectation(),
      [
        [
          'BuildLabelMismatch',
          `has the label ${BUILD}=10.0.17763, expected 10.0.20348: the RuntimeClass selects nodes by it`,
        ],
      ],
    ],
    ...(
      [
        ['without the registration taint', []],
        ['with another effect of the taint', [{ key: 'os', value: 'windows', effect: 'PreferNoSchedule' }]],
        ['with another value of the taint', [{ key: 'os', value: 'linux', effect: 'NoSchedule' }]],
        ['with the taint without a value', [{ key: 'os', effect: 'NoSchedule' }]],
      ] as const
    ).map(
      ([name, taints]) =>
        [
          name,
          { taints },
          sampleExpectation(),
          [['RegistrationTaintMissing', 'lacks the taint os=windows:NoSchedule: Linux pods may be scheduled to it']],
        ] as const,
    ),
    [
      'with docker',
      { containerRuntimeVersion: 'docker://20.10.9' },
      sampleExpectation(),
      [['WrongContainerRuntime', 'runs docker://20.10.9, expected containerd']],
    ],
    [
      'without a container runtime',
      { containerRuntimeVersion: '' },
      sampleExpectation(),
      [['WrongContainerRuntime', 'runs an unknown container runtime, expected containerd']],
    ],
    [
      'without the runtime handler of the RuntimeClass',
      { runtimeHandlers: ['', 'runhcs-wcow-process'] },
      sampleExpectation({ runtimeClass: { name: 'isolated', handler: 'runhcs-wcow-hypervisor' } }),
      [
        [
          'RuntimeHandlerMissing',
          'lacks the runtime handler runhcs-wcow-hypervisor of the RuntimeClass (status.runtimeHandlers: runhcs-wcow-process)',
        ],
      ],
    ],
    [
      'with only the default runtime handler',
      { runtimeHandlers: [''] },
      sampleExpectation(),
      [
        [
          'RuntimeHandlerMissing',
          'lacks the runtime handler runhcs-wcow-process of the RuntimeClass (status.runtimeHandlers: only the default)',
        ],
      ],
    ],
    [
      'with a kubelet newer than the API server',
      { kubeletVersion: 'v1.37.0-eks-1' },
      sampleExpectation(),
      [['KubeletVersionSkew', 'runs kubelet v1.37.0-eks-1, which is newer than the API server (v1.36.3)']],
    ],
    [
      'with a kubelet four minor versions old',
      { kubeletVersion: 'v1.32.4' },
      sampleExpectation(),
      [
        [
          'KubeletVersionSkew',
          'runs kubelet v1.32.4, more than three minor versions older than the API server (v1.36.3)',
        ],
      ],
    ],
    [
      'when it is not Ready',
      { ready: 'Unknown', readyReason: 'NodeStatusUnknown' },
      sampleExpectation(),
      [['NotReady', 'is not Ready (Unknown, NodeStatusUnknown)']],
    ],
    [
      'when it is not Ready without a reason',
      { ready: 'False', readyReason: '' },
      sampleExpectation(),
      [['NotReady', 'is not Ready (False)']],
    ],
    [
      'with a condition of remediation.conditions',
      { conditions: ['MemoryPressure=False', 'DiskPressure=True'] },
      remediating({ type: 'KernelDeadlock', status: 'True' }, { type: 'DiskPressure', status: 'True' }),
      [['UnhealthyCondition', 'has the condition DiskPressure=True, which remediation.conditions lists']],
    ],
    [
      'with an unknown condition, if remediation.conditions lists that status',
      { conditions: ['example.com/Agent=Unknown'] },
      remediating({ type: 'example.com/Agent', status: 'Unknown' }),
      [['UnhealthyCondition', 'has the condition example.com/Agent=Unknown, which remediation.conditions lists']],
    ],
    [
      'without a condition of verification.requiredConditions',
      {},
      requiring('example.com/AntivirusReady'),
      [
        [
          'RequiredConditionMissing',
          'lacks the condition example.com/AntivirusReady, expected example.com/AntivirusReady=True (verification.requiredConditions)',
        ],
      ],
    ],
    [
      'with another status of a condition of verification.requiredConditions',
      { conditions: ['AntivirusReady=False'] },
      requiring('AntivirusReady'),
      [
        [
          'RequiredConditionMissing',
          'has the condition AntivirusReady=False, expected AntivirusReady=True (verification.requiredConditions)',
        ],
      ],
    ],
    ...([{}, { [POD_ADDRESSES]: '0' }, { [POD_ADDRESSES]: 'many' }] as Record<string, string>[]).map(
      (allocatable) =>
        [
          `with ${allocatable[POD_ADDRESSES] ?? 'no'} pod addresses`,
          { allocatable },
          sampleExpectation(),
          [['NoPodAddresses', `has no ${POD_ADDRESSES}: pods get no IP address`]],
        ] as const,
    ),
  ];
  for (const [name, change, expected, want] of failing) {
    it(name, () => {
      const failures = want.map(([reason, message]) => ({ reason, message }));
      assert.deepEqual(resultFor(change, expected), { state: 'failing', failures, warnings: [] });
    });
  }
});

describe('a node of a pool with required images', () => {
  const images = ['mcr.microsoft.com/windows/servercore:ltsc2022', `example.com/app@sha256:${'a'.repeat(64)}`];
  const expected: Expectation = {
    ...sampleExpectation({ verification: { policy: 'Gate', requiredImages: images } }),
    reportedBy: 'web',
  };
  const lacking = 'lacks 1 of 2 images of verification.requiredImages: mcr.microsoft.com/windows/servercore:ltsc2022';
  const young = { createdAt: NOW, verified: undefined };
  const one = { images: images.slice(1) };
  const failuresOf = (change: Partial<NodeRecord>) => verifyNode(sampleNode(change), expected, NOW).failures;
  const condition = (change: Partial<NodeRecord>) => conditionFor(verifyNode(sampleNode(change), expected, NOW), 'web');

  it('is joining until it has all of them', () => {
    const { state, failures } = verifyNode(sampleNode({ ...young, ...one }), expected, NOW);
    assert.deepEqual([state, failures], ['joining', [{ reason: 'ImagesMissing', message: lacking }]]);
    assert.equal(verifyNode(sampleNode({ ...young, images }), expected, NOW).state, 'verified');
  });

  it('fails without them after the join grace', () => {
    const verified = condition({ ...young, ...one });
    assert.equal(condition({ createdAt: 0, ...one, verified }).reason, 'ImagesMissing');
  });

  it('stays verified when the kubelet removes them later, also after it has failed for another reason', () => {
    const verified = condition({ images, verified: condition({ ...young, ...one }) });
    assert.equal(verified.status, 'True');
    assert.deepEqual(failuresOf({ images: [], verified }), []);
    const failing = condition({ createdAt: 0, images: [], ready: 'False', verified });
    assert.deepEqual([failing.status, failuresOf({ images: [], verified: failing })], ['False', []]);
  });

  it('must still have them if it failed for another reason before it had them', () => {
    const notReady = condition({ createdAt: 0, ready: 'False', ...one, verified: condition({ ...young, ...one }) });
    assert.equal(notReady.reason, 'NotReady');
    assert.deepEqual(failuresOf({ createdAt: 0, ...one, verified: notReady }), [
      { reason: 'ImagesMissing', message: lacking },
    ]);
  });

  it('that was verified before the pool required images stays verified', () => {
    const verified = {
      status: 'True',
      reason: 'ChecksPassed',
      message: 'WindowsPool web: passes every check.',
    } as const;
    assert.deepEqual(failuresOf({ images: [], verified }), []);
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
  const message = `joined without the taint ${GATE_TAINT.key}:NoSchedule, so pods may have been scheduled to it before it was verified`;
  const young = { createdAt: NOW, ready: 'False', verified: undefined } as const;
  const gated = { taints: [...sampleNode().taints, GATE_TAINT] };
  const warned = (change: Partial<NodeRecord>, of = expected) =>
    verifyNode(sampleNode(change), of, NOW).warnings.map((warning) => warning.message);
  const condition = (change: Partial<NodeRecord>) => conditionFor(verifyNode(sampleNode(change), expected, NOW), 'web');

  it('is reported when it is first seen without the taint, and after that, also when EKS adds the taint late', () => {
    assert.deepEqual(warned(young), [message]);
    const verified = condition(young);
    assert.equal(verified.status, 'Unknown');
    assert.deepEqual(warned({ ...young, ...gated, verified }), [message]);
    const complete = condition({ createdAt: NOW, ...gated, verified });
    assert.equal(complete.status, 'True');
    assert.deepEqual(warned({ verified: complete }), [message]);
    const failing = condition({ ...young, createdAt: 0, verified: complete });
    assert.deepEqual([failing.status, warned({ verified: failing })], ['False', [message]]);
  });

  it('is not reported when it joined with the taint, and lost it because it was verified', () => {
    assert.deepEqual(warned({ ...young, ...gated }), []);
    assert.deepEqual(warned({ createdAt: NOW, verified: undefined }), []);
    assert.deepEqual(warned({ ...young, verified: condition({ ...young, ...gated }) }), []);
  });

  it('is reported when it joined without the taint of the NodeReadinessRule that the gate is left to', () => {
    const left = {
      ...expected,
      ...sampleExpectation({ verification: { policy: 'Gate', readinessTaint: 'readiness.k8s.io/web' } }),
    };
    const reporting = { ...left, reportedBy: 'web' };
    const held = [...sampleNode().taints, { key: 'readiness.k8s.io/web', effect: 'NoSchedule' as const }];
    assert.deepEqual(warned({ ...young, taints: held }, reporting), []);
    assert.deepEqual(warned({ ...young, ...gated }, reporting), [
      message.replace(GATE_TAINT.key, 'readiness.k8s.io/web'),
    ]);
  });

  it('is not reported without the gate', () => assert.deepEqual(warned(young, sampleExpectation()), []));
});

describe('a warning', () => {
  const almost = { ...littleReserved, allocatable: { ...littleReserved.allocatable, memory: '6145Mi' } };
  const asked = 'of memory for the system, less than verification.minimumReservedMemory 2Gi:';
  const limits = 'set memory limits on its pods';
  const supported = 'which Kubernetes supports';
  const table: readonly (readonly [string, Partial<NodeRecord>, Expectation, NodeCheck, string])[] = [
    [
      'recommends nodeGroup.kubelet or memory limits for a node group',
      littleReserved,
      reserving,
      'ReservedMemoryTooLow',
      `reserves 500Mi ${asked} set nodeGroup.kubelet.systemReserved, or ${limits}`,
    ],
    [
      'recommends systemReserved or memory limits otherwise',
      littleReserved,
      { ...reserving, owner: 'web' },
      'ReservedMemoryTooLow',
      `reserves 500Mi ${asked} raise systemReserved in the configuration of its kubelet, or ${limits}`,
    ],
    [
      'rounds the reserved memory down',
      almost,
      reserving,
      'ReservedMemoryTooLow',
      `reserves 2047Mi ${asked} set nodeGroup.kubelet.systemReserved, or ${limits}`,
    ],
    [
      'reports a node whose reservations differ from nodeGroup.kubelet',
      littleReserved,
      sampleExpectation({ nodeGroup: { kubelet: { systemReserved: { memory: '2Gi' } } } }),
      'KubeletReservationMismatch',
      'reserves 500Mi of memory instead of at least 2048Mi (nodeGroup.kubelet): replace the node, or wait for the rolling update',
    ],
    [
      'reports a node that accepts another number of pods than nodeGroup.kubelet sets',
      { capacity: { pods: '110' } },
      sampleExpectation({ nodeGroup: { kubelet: { maxPods: 30 } } }),
      'MaxPodsMismatch',
      'accepts 110 pods instead of 30 (nodeGroup.kubelet): replace the node, or wait for the rolling update',
    ],
    [
      'reports a Windows version that Kubernetes no longer supports',
      eol2019,
      elsewhere('Windows2019'),
      'UnsupportedWindowsVersion',
      `runs kubelet v1.35.1 on Windows Server 2019, ${supported} up to 1.34`,
    ],
    [
      'reports a kubelet that does not support its Windows version yet',
      { kubeletVersion: 'v1.34.2', ...onKernel('10.0.26100.32230', '10.0.26100') },
      elsewhere('Windows2025'),
      'UnsupportedWindowsVersion',
      `runs kubelet v1.34.2 on Windows Server 2025, ${supported} from 1.35`,
    ],
    [
      'reports pressure and a network that is unavailable',
      { conditions: ['NetworkUnavailable=True', 'MemoryPressure=True', 'DiskPressure=False'] },
      sampleExpectation(),
      'NodePressure',
      'has the conditions MemoryPressure=True and NetworkUnavailable=True',
    ],
  ];
  for (const [name, change, expected, reason, message] of table) {
    it(`${name}, and does not fail the node`, () => {
      assert.deepEqual(resultFor(change, expected), { ...verified, warnings: [{ reason, message }] });
    });
  }

  it('replaces the failure of a check in warnOnly, and other checks still fail', () => {
    const expected = sampleExpectation({ verification: { policy: 'Report', warnOnly: ['RegistrationTaintMissing'] } });
    const missing = {
      reason: 'RegistrationTaintMissing',
      message: 'lacks the taint os=windows:NoSchedule: Linux pods may be scheduled to it',
    };
    assert.deepEqual(resultFor({ taints: [] }, expected), { ...verified, warnings: [missing] });
    assert.deepEqual(resultFor({ taints: [], ready: 'False', readyReason: '' }, expected), {
      state: 'failing',
      failures: [{ reason: 'NotReady', message: 'is not Ready (False)' }],
      warnings: [missing],
    });
  });
});
