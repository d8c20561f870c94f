/** Rules about the nodes of pods: their operating system and their Windows build. */
import { LINUX_IMAGE, TAGS, WINDOWS_IMAGE } from './images.ts';
import { inContainers, type Rule } from './rule.ts';

const NO_PRIVATE_ADDRESS = 'https://github.com/aws/containers-roadmap/issues/463';
const EKS_SELECTOR = 'https://docs.aws.amazon.com/eks/latest/best-practices/windows-scheduling.html';
/** Which builds run which images. */
export const COMPATIBILITY =
  'https://learn.microsoft.com/virtualization/windowscontainers/deploy-containers/version-compatibility';

const IS_UNSELECTED =
  "variables.selectedOS == '' && !has(variables.podSpec.runtimeClassName) && !variables.isHostProcess";
const HAS_NODE_NAME = "variables.podSpec.?nodeName.orValue('') != ''";
const HAS_OS_NAME = "variables.podSpec.?os.?name.orValue('') == 'windows'";
const NO_ADDRESS = 'so on EKS it gets no IP address: the VPC webhook reads only nodeSelector';
/** How a pod selects Windows, without a full stop. */
export const REMEDY = 'Set runtimeClassName, or nodeSelector kubernetes.io/os: windows';

const IS_OTHER = Object.entries(TAGS)
  .map(([build, tag]) => `(variables.selectedBuild != '${build}' && c.image.lowerAscii().matches('${tag}'))`)
  .join(' || ');
/** An image is identified by its digest if it has one. A build 26100 also runs images of build 20348, according to the source. */
const HAS_TAG =
  "variables.isProcessIsolated && variables.selectedBuild != '' && has(c.image) && !c.image.contains('@')";
const IS_2022_ON_2025 = `variables.selectedBuild == '10.0.26100' && c.image.lowerAscii().matches('${TAGS['10.0.20348']}')`;

const NODE_SELECTOR = 'variables.podSpec.?nodeSelector.orValue({})';
/** OtherOperatingSystem is about the operating system. */
const CONFLICTS =
  "key != 'kubernetes.io/os' && " +
  'variables.runtimeClass.?scheduling.?nodeSelector.orValue({}).exists(label, label == key && variables.runtimeClass.scheduling.nodeSelector[label] != variables.podSpec.nodeSelector[key])';

/** CEL over `c`: whether the image of the container is of a Linux distribution, by its name or its tag. */
export const IS_LINUX_IMAGE = `has(c.image) && c.image.lowerAscii().matches('${LINUX_IMAGE}')`;
const IS_WINDOWS_IMAGE = `has(c.image) && c.image.lowerAscii().matches('${WINDOWS_IMAGE}')`;

/** Rules about placement and images of pods on Windows, and about Linux pods that would run there. */
export const PLACEMENT_RULES: readonly Rule[] = [
  {
    name: 'PlacedByNodeName',
    grade: 'fails',
    for: 'windows',
    expression: `${IS_UNSELECTED} && ${HAS_NODE_NAME}`,
    message: `The pod is placed by nodeName without nodeSelector, ${NO_ADDRESS}. ${REMEDY}`,
    source: NO_PRIVATE_ADDRESS,
  },
  {
    name: 'PlacedByAffinity',
    grade: 'fails',
    for: 'windows',
    expression: `${IS_UNSELECTED} && !(${HAS_NODE_NAME}) && variables.requiredTerms.size() > 0`,
    message: `The pod is placed by node affinity without nodeSelector, ${NO_ADDRESS}. ${REMEDY}`,
    source: NO_PRIVATE_ADDRESS,
  },
  {
    name: 'NoNodeSelector',
    grade: 'fails',
    for: 'windows',
    expression:
      `variables.selectedOS == '' && !has(variables.podSpec.runtimeClassName) && !(${HAS_NODE_NAME}) && variables.requiredTerms.size() == 0 && ` +
      `(!variables.isHostProcess || (${HAS_OS_NAME} && variables.selectedBuild == ''))`,
    message: `The pod has neither nodeSelector kubernetes.io/os nor runtimeClassName: os.name does not place it, and on EKS it gets no IP address. ${REMEDY}`,
    source: NO_PRIVATE_ADDRESS,
  },
  {
    name: 'OtherOperatingSystem',
    grade: 'fails',
    for: 'windows',
    expression: "!(variables.selectedOS in ['', 'windows'])",
    message:
      'The pod is for Windows, and its nodeSelector kubernetes.io/os has another value, so it does not run on any node. Set it to windows, in lower case',
    source:
      'https://kubernetes.io/docs/concepts/windows/user-guide/#ensuring-os-specific-workloads-land-on-the-appropriate-container-host',
  },
  {
    name: 'RuntimeClassConflict',
    grade: 'fails',
    for: 'windows',
    expression: `${NODE_SELECTOR}.exists(key, ${CONFLICTS})`,
    names: `${NODE_SELECTOR}.map(key, key).filter(key, ${CONFLICTS})`,
    readsRuntimeClass: true,
    message:
      'nodeSelector has other values for these labels than the RuntimeClass, so the API server rejects the pod. Remove them from nodeSelector',
    source: 'https://kubernetes.io/docs/concepts/containers/runtime-class/#scheduling',
  },
  {
    name: 'ComputeType',
    grade: 'fails',
    for: 'windows',
    expression: `${NODE_SELECTOR}[?'eks.amazonaws.com/compute-type'].orValue('') in ['auto', 'fargate', 'hybrid']`,
    message:
      'EKS Auto Mode, Fargate and hybrid nodes do not run Windows, so the pod stays Pending. Remove eks.amazonaws.com/compute-type from nodeSelector',
    source: 'https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html',
  },
  {
    name: 'LinuxImage',
    grade: 'fails',
    for: 'windows',
    ...inContainers(IS_LINUX_IMAGE),
    message:
      'The name or the tag of the image is of a Linux distribution, so Windows nodes cannot pull it. Use an image for Windows',
    source: COMPATIBILITY,
  },
  {
    name: 'ImageForOtherBuild',
    grade: 'fails',
    for: 'windows',
    ...inContainers(`${HAS_TAG} && !(${IS_2022_ON_2025}) && (${IS_OTHER})`),
    readsRuntimeClass: true,
    message:
      'The tag of the image is of another Windows build than the nodes that the pod selects, which cannot run it. Use the image or the RuntimeClass of the same version',
    source: COMPATIBILITY,
  },
  {
    name: 'ImageForOlderBuild',
    grade: 'advice',
    for: 'windows',
    ...inContainers(`${HAS_TAG} && ${IS_2022_ON_2025}`),
    readsRuntimeClass: true,
    message:
      'The image is of Windows Server 2022, and the pod selects nodes of 2025. Use an ltsc2025 image if one exists',
    source: COMPATIBILITY,
  },
  {
    name: 'WindowsImageUnselected',
    grade: 'advice',
    for: 'linux',
    ...inContainers(
      `variables.selectedOS == '' && !has(variables.podSpec.runtimeClassName) && !(${HAS_NODE_NAME}) && ${IS_WINDOWS_IMAGE}`,
    ),
    message: `The image is for Windows, and the pod selects no operating system: it starts on Linux and fails, or gets no IP address on EKS. ${REMEDY}`,
    source: NO_PRIVATE_ADDRESS,
  },
  {
    name: 'LinuxOnWindows',
    grade: 'advice',
    for: 'linux',
    expression:
      `!variables.containers.exists(c, ${IS_WINDOWS_IMAGE}) && ` +
      "variables.podSpec.?tolerations.orValue([]).exists(t, t.?effect.orValue('') in ['', 'NoSchedule'] && " +
      "(t.?key.orValue('') == '' ? t.?operator.orValue('') == 'Exists' : " +
      "t.key == 'os' && (t.?operator.orValue('') == 'Exists' || t.?value.orValue('') in ['windows', 'Windows']))) && " +
      `variables.selectedOS == '' && !has(variables.podSpec.runtimeClassName) && !(${HAS_NODE_NAME}) && ` +
      "!variables.requiredTerms.exists(term, has(term.matchFields) || term.?matchExpressions.orValue([]).exists(e, e.key in ['kubernetes.io/os', 'beta.kubernetes.io/os']))",
    message:
      'The pod tolerates the taint of Windows nodes and selects no operating system, so a Linux pod can start on Windows and fail. Set nodeSelector kubernetes.io/os: linux',
    source: EKS_SELECTOR,
  },
];
