/**
 * The checks on nodes of real kubelets in several clouds. Most rows are as `kubectl get nodes -o wide` printed them in public documents: the EKS
 * best practices guide, guides of AKS and of Azure Stack HCI, cluster-api, and Antrea for a plain kubelet as kops has it. The newest rows of EKS
 * and kops and those of GKE put kubelet and containerd versions of their release lists together with kernels of the same Windows.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { NodeCheck } from '../api/reasons.ts';
import type { Expectation } from '../model/poolNodesView.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { MINUTE, NOW, sampleNode, samplePool } from '../testing/fixtures.ts';
import { verifyNode } from './verify.ts';
import { buildOf, POD_ADDRESSES, WINDOWS_BUILD_LABEL, type WindowsVersion } from './windowsVersions.ts';

type Row = readonly [cloud: string, version: WindowsVersion, kernel: string, runtime: string, kubelet: string];

const rows: readonly Row[] = [
  ['EKS', 'Windows2022', '10.0.20348.1607', 'containerd://1.6.6', 'v1.24.7-eks-fb459a0'],
  ['EKS', 'Windows2019', '10.0.17763.4131', 'containerd://1.6.6', 'v1.24.7-eks-fb459a0'],
  ['EKS', 'Windows2025', '10.0.26100.32230', 'containerd://2.1.6', 'v1.35.3-eks-113cf36'],
  ['EKS', 'Windows2022', '10.0.20348.4171', 'containerd://1.7.28', 'v1.34.1-eks-113cf36'],
  ['AKS', 'Windows2022', '10.0.20348.825', 'containerd://1.6.6+azure', 'v1.23.8'],
  ['AKS', 'Windows2022', '10.0.20348.2159', 'containerd://1.6.21+azure', 'v1.27.7'],
  ['AKS', 'Windows2025', '10.0.26100.32995', 'containerd://2.0.4+azure', 'v1.33.12'],
  ['AKS', 'Windows2019', '10.0.17763.1879', 'containerd://1.4.4+unknown', 'v1.20.7'],
  [
    'AKS on Azure Stack HCI',
    'Windows2019',
    '10.0.17763.2565',
    'containerd://1.6.0-beta.3-82-ga95a8b8ff+azure',
    'v1.22.2',
  ],
  ['GKE', 'Windows2019', '10.0.17763.4131', 'containerd://1.7.24', 'v1.31.3-gke.1162000'],
  ['GKE', 'Windows2022', '10.0.20348.2159', 'containerd://1.7.27', 'v1.33.5-gke.1080000'],
  ['cluster-api', 'Windows2022', '10.0.20348.1006', 'containerd://1.6.2', 'v1.23.12'],
  ['kops', 'Windows2019', '10.0.17763.5206', 'containerd://1.6.6', 'v1.29.0'],
  ['kops', 'Windows2022', '10.0.20348.1668', 'containerd://1.6.14', 'v1.33.5'],
];

/** EKS assigns addresses to its nodes, and their group taints them; elsewhere they are existing nodes of a pool. */
function real([cloud, version, kernelVersion, containerRuntimeVersion, kubeletVersion]: Row): NodeRecord {
  const { labels, allocatable } = sampleNode();
  return sampleNode({
    kernelVersion,
    containerRuntimeVersion,
    kubeletVersion,
    runtimeHandlers: containerRuntimeVersion.startsWith('containerd://2') ? ['', 'runhcs-wcow-process'] : [],
    labels: { ...labels, [WINDOWS_BUILD_LABEL]: buildOf(version) },
    allocatable: cloud === 'EKS' ? allocatable : { memory: allocatable.memory ?? '' },
  });
}

function expecting(cloud: string, kubelet: string, version: WindowsVersion, minimumRevision?: number): Expectation {
  const verification = { minimumReservedMemory: '2Gi', ...(minimumRevision !== undefined && { minimumRevision }) };
  return {
    spec: samplePool({ windowsVersion: version, verification }).spec,
    serverVersion: kubelet,
    joinGraceMs: 15 * MINUTE,
    taints: { gate: false, quarantine: false },
    reportedBy: 'web',
    ...(cloud !== 'EKS' && { owner: 'web' }),
  };
}

/** The reasons of the failures and the warnings, in the order of importance. */
function reasonsFor(node: NodeRecord, expected: Expectation): NodeCheck[] {
  const { failures, warnings } = verifyNode(node, expected, NOW);
  return [...failures, ...warnings].map(({ reason }) => reason).filter((reason) => reason !== VENDORS);
}

/** Vendors support pairs of kubelet and Windows that the Kubernetes project does not, such as AKS 2025 with 1.33. */
const VENDORS = 'UnsupportedWindowsVersion';

/** Each breaks a node in one way that exactly one check finds. */
const damages: readonly (readonly [NodeCheck, (node: NodeRecord) => Partial<NodeRecord>])[] = [
  ['WrongArchitecture', ({ labels }) => ({ labels: { ...labels, 'kubernetes.io/arch': 'arm64' } })],
  ['UnknownKernelVersion', () => ({ kernelVersion: '5.15.0-1052-azure' })],
  ['UnknownKernelVersion', () => ({ kernelVersion: '5.10.173-154.642.amzn2.x86_64' })],
  ['UnknownKernelVersion', () => ({ kernelVersion: 'Microsoft Windows [Version 10.0.20348]' })],
  ['BuildLabelMismatch', ({ labels }) => ({ labels: { ...labels, [WINDOWS_BUILD_LABEL]: '10.0.19041' } })],
  ['RegistrationTaintMissing', () => ({ taints: [] })],
  ['WrongContainerRuntime', () => ({ containerRuntimeVersion: 'docker://19.3.14' })],
  ['WrongContainerRuntime', () => ({ containerRuntimeVersion: 'docker://20.10.6' })],
  ['WrongContainerRuntime', () => ({ containerRuntimeVersion: 'docker://Unknown' })],
  ['RuntimeHandlerMissing', () => ({ runtimeHandlers: ['', 'runhcs-wcow-hypervisor'] })],
  ['KubeletVersionSkew', () => ({ kubeletVersion: 'v1.37.0' })],
  ['KubeletVersionSkew', () => ({ kubeletVersion: 'v1.9.0-alpha.0.478+e5facc9bfcc1e1-dirty' })],
  ['KubeletVersionSkew', () => ({ kubeletVersion: 'v1.15.10' })],
  ['NotReady', () => ({ ready: 'False', readyReason: 'KubeletNotReady' })],
  ['NodePressure', () => ({ conditions: ['MemoryPressure=False', 'DiskPressure=True', 'PIDPressure=False'] })],
  ['ReservedMemoryTooLow', ({ allocatable }) => ({ allocatable: { ...allocatable, memory: '8388608Ki' } })],
];

for (const row of rows) {
  const [cloud, version, kernel, , kubelet] = row;
  describe(`a node of ${cloud} with ${kernel} and kubelet ${kubelet}`, () => {
    const expected = expecting(cloud, kubelet, version);
    const node = real(row);
    const revision = Number(kernel.split('.')[3]);

    it('is verified in a pool of its version, and in no other', () => {
      const versions = ['Windows2019', 'Windows2022', 'Windows2025'] as const;
      const found = versions.map((other) => reasonsFor(node, expecting(cloud, kubelet, other)));
      assert.deepEqual(
        found,
        versions.map((other) => (other === version ? [] : ['WrongBuild'])),
      );
    });

    it('passes with its own revision as the minimum, and fails with the next one', () => {
      const [at, below] = [revision, revision + 1].map((floor) => expecting(cloud, kubelet, version, floor));
      assert.deepEqual([at && reasonsFor(node, at), below && reasonsFor(node, below)], [[], ['RevisionTooLow']]);
    });

    it('fails exactly the check for its fault', () => {
      const found = damages.map(([, damage]) => reasonsFor({ ...node, ...damage(node) }, expected));
      assert.deepEqual(
        found,
        damages.map(([reason]) => [reason]),
      );
    });

    it('needs addresses for pods on EKS', () => {
      const none = { ...node, allocatable: { ...node.allocatable, [POD_ADDRESSES]: '0' } };
      assert.deepEqual(reasonsFor(none, expected), ['NoPodAddresses']);
    });
  });
}

describe('a kernel version', () => {
  const digits = fc.nat({ max: 99_999 }).map(String);
  const dotted = fc.array(digits, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('.'));
  const kernels = rows.map(([, , kernel]) => kernel);
  const builds = [
    '10.0.17763',
    '10.0.20348',
    '10.0.26100',
    '10.0.19042',
    '10.0.2034',
    '10.0.203480',
    '10.1.20348',
    '6.3.9600',
  ];
  const ending = fc.oneof(
    digits,
    dotted,
    fc.string(),
    fc.constantFrom('', '٣', '-1', '1e3', '0x10', ' 7', '9'.repeat(40)),
  );
  /** A real one with a character inserted or removed. */
  const mistyped = fc
    .tuple(
      fc.constantFrom(...kernels),
      fc.nat({ max: 16 }),
      fc.oneof(fc.constant(''), fc.string({ unit: 'binary', maxLength: 1 })),
    )
    .map(([kernel, at, put]) => kernel.slice(0, at) + put + kernel.slice(put === '' ? at + 1 : at));
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(...kernels),
    dotted,
    mistyped,
    fc.tuple(fc.constantFrom(...builds), ending).map(([build, rest]) => `${build}.${rest}`),
    fc.tuple(fc.constantFrom(...builds), ending).map(([build, rest]) => build + rest),
  );

  /** Parsed digit by digit and compared as integers of any length, unlike the checks. */
  function resultOf(text: string, label: string, version: WindowsVersion, floor: number | undefined): NodeCheck[] {
    const isNumber = (part: string) => part !== '' && Array.from(part).every((digit) => '0123456789'.includes(digit));
    const [major, minor, build = '', ...rest] = text.split('.');
    const isKernel = major === '10' && minor === '0' && isNumber(build) && rest.length < 2 && rest.every(isNumber);
    if (!isKernel) return ['UnknownKernelVersion'];
    const reasons: NodeCheck[] = [];
    if (build !== { Windows2019: '17763', Windows2022: '20348', Windows2025: '26100' }[version])
      reasons.push('WrongBuild');
    const [revision] = rest;
    const isBelow = floor !== undefined && (revision === undefined || BigInt(revision) < BigInt(floor));
    if (isBelow) reasons.push('RevisionTooLow');
    if (label !== `10.0.${build}`) reasons.push('BuildLabelMismatch');
    return reasons;
  }

  it('never makes a check throw, and always has the result of an independent parser', () => {
    const label = fc.oneof(fc.constantFrom('10.0.17763', '10.0.20348', '10.0.26100'), fc.string());
    const version = fc.constantFrom('Windows2019', 'Windows2022', 'Windows2025');
    const floor = fc.option(fc.nat({ max: 1_000_000 }), { nil: undefined });
    const seen = new Set<string>();
    fc.assert(
      fc.property(texts, label, version, floor, (kernelVersion, build, windowsVersion, minimum) => {
        const labels = { ...sampleNode().labels, [WINDOWS_BUILD_LABEL]: build };
        const expected = expecting('EKS', 'v1.36.3', windowsVersion, minimum);
        const want = resultOf(kernelVersion, build, windowsVersion, minimum);
        const node = sampleNode({ kernelVersion, labels });
        assert.deepEqual(reasonsFor(node, expected), want);
        assert.equal(verifyNode(node, expected, NOW).state, want.length === 0 ? 'verified' : 'failing');
        seen.add(want.join());
      }),
      { numRuns: 10_000 },
    );
    // No failure, an unknown kernel, and each of the seven combinations of the other three: the generator reaches all of them.
    assert.equal(seen.size, 9, [...seen].join('; '));
  });
});
