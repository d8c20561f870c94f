import assert from 'node:assert/strict';
import type { WindowsPoolSpec } from '../api.gen.ts';
import type { Expectation, VerificationResult } from '../model/poolNodes.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { NodeCheck } from '../reasons.ts';
import { MINUTE, NOW, sampleNode, samplePool } from '../testing/fixtures.ts';
import { conditionFor } from './nodeCondition.ts';
import { GATE_TAINT } from './nodeTaints.ts';
import { graceEnd, verifyNode } from './verify.ts';
import { POD_ADDRESSES } from './windows.ts';

const BUILD = 'node.kubernetes.io/windows-build';

function expecting(spec: Partial<WindowsPoolSpec> = {}, rest: Partial<Expectation> = {}): Expectation {
  const pool = samplePool();
  const taints = { gate: false, quarantine: false };
  return {
    spec: { ...pool.spec, ...spec },
    serverVersion: 'v1.36.3',
    joinGraceMs: 15 * MINUTE,
    taints,
    reportedBy: 'web',
    ...rest,
  };
}

/** The verdict without the node. */
function resultFor(change: Partial<NodeRecord>, expected: Expectation = expecting()): Omit<VerificationResult, 'node'> {
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

const cases2019 = expecting({ windowsVersion: 'Windows2019' });
const cases2025 = expecting({ windowsVersion: 'Windows2025' });
const eol2019 = on2019('v1.35.1');
const littleReserved = { capacity: { memory: '8Gi' }, allocatable: { memory: '7692Mi', [POD_ADDRESSES]: '9' } };
const reserving = expecting({ verification: { policy: 'Report', minimumReservedMemory: '2Gi' } });

/** A pool of existing nodes of a Windows version. */
function elsewhere(windowsVersion: WindowsPoolSpec['windowsVersion'], serverVersion = 'v1.36.3'): Expectation {
  return expecting({ windowsVersion }, { owner: 'web', serverVersion });
}

function on2019(kubeletVersion: string): Partial<NodeRecord> {
  return { kubeletVersion, ...onKernel('10.0.17763.6293', '10.0.17763') };
}

const floor = expecting({ verification: { policy: 'Report', minimumRevision: 2340 } });

describe('a node is verified', () => {
  const healthy: readonly (readonly [string, Partial<NodeRecord>, Expectation])[] = [
    ['on EKS, Windows 2022', {}, expecting()],
    ['on EKS, Windows 2019', onKernel('10.0.17763.6293', '10.0.17763'), cases2019],
    ['on EKS, Windows 2025', onKernel('10.0.26100.32230', '10.0.26100'), cases2025],
    [
      'on EKS with Kubernetes 1.31',
      { kubeletVersion: 'v1.31.1-eks-1b3e656', containerRuntimeVersion: 'containerd://1.7.20' },
      expecting({}, { serverVersion: 'v1.31.1-eks-ce1d5eb' }),
    ],
    [
      'on AKS',
      {
        kernelVersion: '10.0.20348.3207',
        kubeletVersion: 'v1.34.2',
        containerRuntimeVersion: 'containerd://1.7.20+azure',
        ...labelled({ 'kubernetes.azure.com/os-sku': 'Windows2022' }),
      },
      expecting(),
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
    ['on kops', { kubeletVersion: 'v1.33.0', containerRuntimeVersion: 'containerd://1.7.28' }, expecting()],
    ['at exactly the patch floor', { kernelVersion: '10.0.20348.2340' }, floor],
    ['without a revision where there is no patch floor', { kernelVersion: '10.0.20348' }, expecting()],
    [
      'with the taint as OpenShift spells it',
      { taints: [{ key: 'os', value: 'Windows', effect: 'NoSchedule' }] },
      expecting(),
    ],
    ['without a taint where the pool has none', { taints: [] }, expecting({ registrationTaint: false })],
    ['with a kubelet three minor versions old', { kubeletVersion: 'v1.33.9' }, expecting()],
    [
      'whatever its kubelet while the API server is unknown',
      { kubeletVersion: 'v1.20.0' },
      expecting({}, { serverVersion: undefined }),
    ],
    ['whatever kubelet names itself strangely', { kubeletVersion: 'dev' }, expecting()],
    ['whose containerd reports no handlers', { runtimeHandlers: [] }, expecting()],
    [
      'with other handlers where the pool manages no RuntimeClass',
      { runtimeHandlers: ['', 'runc'] },
      expecting({ runtimeClass: { ...samplePool().spec.runtimeClass, manage: false } }),
    ],
    ['with prefix delegation', { allocatable: { memory: '6291456Ki', [POD_ADDRESSES]: '144' } }, expecting()],
    ['when its memory is not told', { capacity: {}, allocatable: { [POD_ADDRESSES]: '9' } }, expecting()],
    ['with the 500 MiB that a node of EKS reserves', littleReserved, expecting()],
    [
      'with exactly the reserved memory that the pool asks for',
      { capacity: { memory: '8Gi' }, allocatable: { memory: '6Gi', [POD_ADDRESSES]: '9' } },
      reserving,
    ],
    ['when its memory is not told and the pool asks for some', { capacity: {} }, reserving],
    ['on EKS, whatever pair of Kubernetes and Windows: that is a prerequisite', eol2019, cases2019],
    ['elsewhere with a kubelet that names itself strangely', { kubeletVersion: 'dev' }, elsewhere('Windows2022')],
    ['elsewhere with the last Kubernetes of its Windows', on2019('v1.34.9'), elsewhere('Windows2019', 'v1.34.9')],
  ];
  for (const [name, change, expected] of healthy) {
    it(name, () => assert.deepEqual(resultFor(change, expected), verified));
  }
});

describe('a node fails', () => {
  const failing: readonly (readonly [
    string,
    Partial<NodeRecord>,
    Expectation,
    readonly (readonly [string, string])[],
  ])[] = [
    [
      'that says that it runs Windows and does not',
      {
        ...labelled({ 'kubernetes.io/arch': 'arm64' }),
        kernelVersion: '6.1.112-122.189.amzn2023.x86_64',
      },
      expecting(),
      [
        ['WrongArchitecture', 'has the label kubernetes.io/arch=arm64 and must have amd64'],
        [
          'UnknownKernelVersion',
          'reports the kernel version "6.1.112-122.189.amzn2023.x86_64", which is no Windows build (10.0.BUILD.REVISION)',
        ],
      ],
    ],
    [
      'that says nothing of its architecture',
      { ...without('kubernetes.io/arch'), architecture: '' },
      expecting(),
      [['WrongArchitecture', 'lacks the label kubernetes.io/arch=amd64']],
    ],
    [
      'that reports no kernel',
      { kernelVersion: '' },
      floor,
      [['UnknownKernelVersion', 'reports the kernel version "", which is no Windows build (10.0.BUILD.REVISION)']],
    ],
    [
      'of a newer version',
      onKernel('10.0.26100.32230', '10.0.26100'),
      expecting(),
      [['WrongBuild', 'runs build 10.0.26100 (Windows Server 2025) and the pool needs 10.0.20348 (Windows2022)']],
    ],
    [
      'of a retired channel',
      onKernel('10.0.19042.1889', '10.0.19042'),
      expecting(),
      [['WrongBuild', 'runs build 10.0.19042 and the pool needs 10.0.20348 (Windows2022)']],
    ],
    [
      'that is patched too little',
      { kernelVersion: '10.0.20348.2339' },
      floor,
      [['RevisionTooLow', 'runs 10.0.20348.2339 and the pool needs at least revision 2340']],
    ],
    [
      'that hides its patches where there is a floor',
      { kernelVersion: '10.0.20348' },
      floor,
      [['RevisionTooLow', 'reports no revision (10.0.20348) and the pool needs at least 2340']],
    ],
    [
      'of an old kubelet without the build label',
      without(BUILD),
      expecting(),
      [
        [
          'BuildLabelMismatch',
          `lacks the label ${BUILD} and its kernel is 10.0.20348: the RuntimeClass places pods by it`,
        ],
      ],
    ],
    [
      'whose build label comes from the node group',
      labelled({ [BUILD]: '10.0.17763' }),
      expecting(),
      [
        [
          'BuildLabelMismatch',
          `has the label ${BUILD}=10.0.17763 and its kernel is 10.0.20348: the RuntimeClass places pods by it`,
        ],
      ],
    ],
    ...(
      [
        ['without a taint', []],
        ['with the taint and another effect', [{ key: 'os', value: 'windows', effect: 'PreferNoSchedule' }]],
        ['with the taint and another value', [{ key: 'os', value: 'linux', effect: 'NoSchedule' }]],
        ['with the taint and no value', [{ key: 'os', effect: 'NoSchedule' }]],
      ] as const
    ).map(
      ([name, taints]) =>
        [
          name,
          { taints },
          expecting(),
          [['RegistrationTaintMissing', 'lacks the taint os=windows:NoSchedule: Linux pods may land on it']],
        ] as const,
    ),
    [
      'on docker',
      { containerRuntimeVersion: 'docker://20.10.9' },
      expecting(),
      [['WrongContainerRuntime', 'runs docker://20.10.9 and must run containerd']],
    ],
    [
      'that tells no container runtime',
      { containerRuntimeVersion: '' },
      expecting(),
      [['WrongContainerRuntime', 'runs an unknown container runtime and must run containerd']],
    ],
    [
      'that reports other handlers than the RuntimeClass names',
      { runtimeHandlers: ['', 'runhcs-wcow-process'] },
      expecting({
        runtimeClass: { ...samplePool().spec.runtimeClass, scope: 'Pool', handler: 'runhcs-wcow-hypervisor' },
      }),
      [
        [
          'RuntimeHandlerMissing',
          'lacks the handler runhcs-wcow-hypervisor, which the RuntimeClass names (status.runtimeHandlers: runhcs-wcow-process)',
        ],
      ],
    ],
    [
      'that reports the default handler only',
      { runtimeHandlers: [''] },
      expecting(),
      [
        [
          'RuntimeHandlerMissing',
          'lacks the handler runhcs-wcow-process, which the RuntimeClass names (status.runtimeHandlers: only the default)',
        ],
      ],
    ],
    [
      'with a kubelet newer than the API server',
      { kubeletVersion: 'v1.37.0-eks-1' },
      expecting(),
      [['KubeletVersionSkew', 'runs kubelet v1.37.0-eks-1, which is newer than the API server (v1.36.3)']],
    ],
    [
      'with a kubelet four minor versions old',
      { kubeletVersion: 'v1.32.4' },
      expecting(),
      [
        [
          'KubeletVersionSkew',
          'runs kubelet v1.32.4, more than three minor versions older than the API server (v1.36.3)',
        ],
      ],
    ],
    [
      'that is not Ready',
      { ready: 'Unknown', readyReason: 'NodeStatusUnknown' },
      expecting(),
      [['NotReady', 'is not Ready (Unknown, NodeStatusUnknown)']],
    ],
    [
      'that is not Ready and gives no reason',
      { ready: 'False', readyReason: '' },
      expecting(),
      [['NotReady', 'is not Ready (False)']],
    ],
    ...([{}, { [POD_ADDRESSES]: '0' }, { [POD_ADDRESSES]: 'many' }] as Record<string, string>[]).map(
      (allocatable) =>
        [
          `whose addresses for pods are ${allocatable[POD_ADDRESSES] ?? 'not told'}`,
          { allocatable },
          expecting(),
          [['NoPodAddresses', `has no ${POD_ADDRESSES}: no pod gets an address`]],
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

describe('a new node', () => {
  const joining = { createdAt: NOW - 15 * MINUTE + 1 };
  const late = { createdAt: NOW - 15 * MINUTE };
  const settled = NOW - 2 * MINUTE;
  const incomplete = { ready: 'False', allocatable: {} } as const;
  const table: readonly (readonly [string, Partial<NodeRecord>, VerificationResult['state']])[] = [
    ['is joining until it is Ready and has addresses', { ...joining, ...incomplete }, 'joining'],
    ['fails when it takes longer than the join grace', { ...late, ...incomplete }, 'failing'],
    ['fails at once for what time does not correct', { ...joining, ...incomplete, kernelVersion: '6.1' }, 'failing'],
    [
      'may get the taints of its group two minutes after it registered',
      { createdAt: settled + 1, taints: [] },
      'joining',
    ],
    ['fails when they come later', { createdAt: settled, taints: [] }, 'failing'],
    [
      'fails without them although it may still take time to be Ready',
      { ...joining, ...incomplete, taints: [] },
      'failing',
    ],
    ['is verified as soon as it is complete', joining, 'verified'],
  ];
  const settling = expecting({}, { settlingMs: 2 * MINUTE });
  for (const [name, change, want] of table) it(name, () => assert.equal(resultFor(change, settling).state, want));

  it('fails at once without the taint where its group does not have it', () =>
    assert.equal(resultFor({ createdAt: NOW, taints: [] }).state, 'failing'));

  it('is looked at again when the first grace ends', () => {
    const end = (change: Partial<NodeRecord>) =>
      graceEnd(verifyNode(sampleNode({ createdAt: NOW, ...change }), settling, NOW), settling);
    assert.equal(end(incomplete), NOW + 15 * MINUTE);
    assert.equal(end({ ...incomplete, taints: [] }), NOW + 2 * MINUTE);
  });
});

describe('a node of a group with a gate', () => {
  const gate = expecting({ verification: { policy: 'Gate' } });
  const expected: Expectation = { ...gate, taints: { gate: true, quarantine: true }, reportedBy: 'web' };
  const message = `joined without the taint ${GATE_TAINT.key}:NoSchedule, so pods may have come before it was verified`;
  const young = { createdAt: NOW, ready: 'False', verified: undefined } as const;
  const gated = { taints: [...sampleNode().taints, GATE_TAINT] };
  const warned = (change: Partial<NodeRecord>, of = expected) =>
    verifyNode(sampleNode(change), of, NOW).warnings.map((warning) => warning.message);
  const condition = (change: Partial<NodeRecord>) => conditionFor(verifyNode(sampleNode(change), expected, NOW), 'web');

  it('is reported when it is first seen without the taint, and from then on, also when EKS adds the taint late', () => {
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

  it('is not reported when it came with the taint, and lost it because it was verified', () => {
    assert.deepEqual(warned({ ...young, ...gated }), []);
    assert.deepEqual(warned({ createdAt: NOW, verified: undefined }), []);
    assert.deepEqual(warned({ ...young, verified: condition({ ...young, ...gated }) }), []);
  });

  it('is not reported without the gate', () => assert.deepEqual(warned(young, expecting()), []));
});

describe('a warning', () => {
  const almost = { ...littleReserved, allocatable: { ...littleReserved.allocatable, memory: '6145Mi' } };
  const asked = 'of memory for the system, less than verification.minimumReservedMemory 2Gi:';
  const limits = 'set memory limits on its pods';
  const supported = 'which the Kubernetes project supports';
  const table: readonly (readonly [string, Partial<NodeRecord>, Expectation, NodeCheck, string])[] = [
    [
      'says what helps where EKS runs the kubelet',
      littleReserved,
      reserving,
      'LittleReservedMemory',
      `reserves 500Mi ${asked} ${limits}, because EKS passes no kubelet arguments to its Windows AMIs`,
    ],
    [
      'says what helps where somebody else does',
      littleReserved,
      { ...reserving, owner: 'web' },
      'LittleReservedMemory',
      `reserves 500Mi ${asked} raise systemReserved in the configuration of its kubelet, or ${limits}`,
    ],
    [
      'never says that a little less is enough',
      almost,
      reserving,
      'LittleReservedMemory',
      `reserves 2047Mi ${asked} ${limits}, because EKS passes no kubelet arguments to its Windows AMIs`,
    ],
    [
      'tells of a Windows that Kubernetes has left behind',
      eol2019,
      elsewhere('Windows2019'),
      'UnsupportedWindowsVersion',
      `runs kubelet v1.35.1 on Windows Server 2019, ${supported} up to 1.34`,
    ],
    [
      'tells of a kubelet that is older than the support of its Windows',
      { kubeletVersion: 'v1.34.2', ...onKernel('10.0.26100.32230', '10.0.26100') },
      elsewhere('Windows2025'),
      'UnsupportedWindowsVersion',
      `runs kubelet v1.34.2 on Windows Server 2025, ${supported} from 1.35`,
    ],
  ];
  for (const [name, change, expected, reason, message] of table) {
    it(`${name}, and never fails the node`, () => {
      assert.deepEqual(resultFor(change, expected), { ...verified, warnings: [{ reason, message }] });
    });
  }

  it('is what a check in warnOnly gives, and the other checks still fail', () => {
    const expected = expecting({ verification: { policy: 'Report', warnOnly: ['RegistrationTaintMissing'] } });
    const missing = {
      reason: 'RegistrationTaintMissing',
      message: 'lacks the taint os=windows:NoSchedule: Linux pods may land on it',
    };
    assert.deepEqual(resultFor({ taints: [] }, expected), { ...verified, warnings: [missing] });
    assert.deepEqual(resultFor({ taints: [], ready: 'False', readyReason: '' }, expected), {
      state: 'failing',
      failures: [{ reason: 'NotReady', message: 'is not Ready (False)' }],
      warnings: [missing],
    });
  });
});
