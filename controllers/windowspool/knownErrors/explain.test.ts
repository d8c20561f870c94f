import assert from 'node:assert/strict';
import { KNOWN_ERRORS, KNOWN_EXIT_CODES } from './catalogue.ts';
import { explain, knownErrorIn, knownExitCode, withCause } from './explain.ts';

/** Messages of public reports, in the words of their components. */
const MESSAGES: readonly (readonly [message: string, name: string])[] = [
  [
    'Back-off pulling image "app:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "app:1": no match for platform in manifest: not found',
    'ImageBuildMismatch',
  ],
  ['no matching manifest for windows/amd64 10.0.17763 in the manifest list entries', 'ImageBuildMismatch'],
  [
    'hcs::CreateComputeSystem app: The container operating system does not match the host operating system.: unknown',
    'ImageBuildMismatch',
  ],
  ['a Windows version 10.0.20348-based image is incompatible with a 10.0.17763 host', 'ImageBuildMismatch'],
  ['failed to create shim task: hcs::CreateComputeSystem app: (0xc0370101)', 'ImageBuildMismatch'],
  ['hcsshim::ImportLayer failed in Win32: There is not enough space on the disk. (0x70): unknown', 'DiskFull'],
  [
    'failure in a Windows system call: The paging file is too small for this operation to complete. (0x5af)',
    'PageFileTooSmall',
  ],
  [
    'hcs::CreateProcess: Insufficient system resources exist to complete the requested service. (0x5aa)',
    'NodeOutOfResources',
  ],
  ['hcs::System::CreateProcess app: The directory name is invalid.: unknown', 'WorkingDirectoryInvalid'],
  ['hcs::System::CreateProcess app: The system cannot find the file specified.: unknown', 'CommandNotFound'],
  [
    "container's runAsUserName (ContainerAdministrator) which will be regarded as root identity and will break non-root policy",
    'RunAsNonRootAsAdministrator',
  ],
  ['Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ', 'EphemeralStorageExceeded'],
  ['Container app exceeded its local ephemeral storage limit "1Gi". ', 'EphemeralStorageExceeded'],
  ['Usage of EmptyDir volume "data" exceeds the limit "1Gi". ', 'EphemeralStorageExceeded'],
  ['The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi. ', 'NodeUnderPressure'],
  ['Pod was rejected: The node had condition: [DiskPressure]. ', 'NodeUnderPressure'],
  [
    'Warm pool for resource vpc.amazonaws.com/PrivateIPv4Address is currently empty because the specified subnet does not have enough free cidr blocks, will retry in 2m0s',
    'SubnetWithoutBlocks',
  ],
  [
    'InsufficientCidrBlocks: The specified subnet does not have enough free cidr blocks to satisfy the request.',
    'SubnetWithoutBlocks',
  ],
  [
    'Unsupported: The instance type m9.xlarge is not supported yet by the vpc resource controller',
    'InstanceTypeUnsupported',
  ],
  ['The instance type t2.large is not supported for Windows prefix delegation', 'InstanceTypeUnsupported'],
  ['Resource vpc.amazonaws.com/PrivateIPv4Address are being cooled down, will retry in 30s', 'AddressesCoolingDown'],
  [
    'Warm pool for resource vpc.amazonaws.com/PrivateIPv4Address is currently empty, will retry in 600ms',
    'NoWarmAddress',
  ],
  ['0/3 nodes are available: 1 Insufficient vpc.amazonaws.com/PrivateIPv4Address', 'NodeOutOfPodAddresses'],
  [
    'failed to parse Kubernetes args: pod does not have label vpc.amazonaws.com/PrivateIPv4Address',
    'PodWithoutAddress',
  ],
  [
    'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized',
    'CNINotInitialized',
  ],
  [
    'transport: Error while dialing open //./pipe/containerd-containerd: The system cannot find the file specified.',
    'ContainerdStopped',
  ],
  [
    '[container runtime is down, PLEG is not healthy: pleg was last seen active … ago; threshold is …]',
    'ContainerdStopped',
  ],
  [
    'failed to get sandbox image "602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause-windows:latest": failed to pull image: 401 Unauthorized',
    'PauseImageMissing',
  ],
  ['Failed to create pod sandbox: no runtime for "docker" is configured', 'RuntimeHandlerUnknown'],
  ['hcs::CreateComputeSystem app: The user name or password is incorrect. (0x52e)', 'GMSALogonFailed'],
  [
    'hcsshim::ActivateLayer failed in Win32: The process cannot access the file because it is being used by another process. (0x20)',
    'FileInUse',
  ],
  ['hcs::System::Start: The virtual machine or container exited unexpectedly. (0xc0370106)', 'ContainerEndedAtStart'],
  [
    'failed to resolve reference "a/b:1": pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials',
    'RegistryCredentials',
  ],
  [
    'failed to copy: httpReadSeeker: 429 Too Many Requests: toomanyrequests: You have reached your pull rate limit',
    'RegistryRateLimit',
  ],
  [
    'failed to do request: Head "https://registry.example/v2/": dial tcp: lookup registry.example: no such host',
    'RegistryUnreachable',
  ],
  ['connectex: No connection could be made because the target machine actively refused it.', 'RegistryUnreachable'],
  [
    'failed to resolve reference "mcr.microsoft.com/windows/servercore:ltsc2021": mcr.microsoft.com/windows/servercore:ltsc2021: not found',
    'ImageNotFound',
  ],
  ['ImagePullBackOff', 'ImagePullFailed'],
];

describe('a known error', () => {
  for (const [message, name] of MESSAGES)
    it(`${name} is found in: ${message.slice(0, 80)}`, () => assert.equal(knownErrorIn(message)?.name, name));

  it('has a message for each entry of the catalogue', () => {
    const seen = new Set(MESSAGES.map(([, name]) => name));
    assert.deepEqual(
      KNOWN_ERRORS.map(({ name }) => name).filter((name) => !seen.has(name)),
      [],
    );
    assert.equal(new Set(KNOWN_ERRORS.map(({ name }) => name)).size, KNOWN_ERRORS.length);
  });

  it('is told once, and a generic one only if there is no other', () => {
    const names = (...messages: readonly string[]) => explain(messages).map(({ error }) => error.name);
    assert.deepEqual(names('ImagePullBackOff', '(0x70)', 'not enough space on the disk', 'nothing'), ['DiskFull']);
    assert.deepEqual(names('ImagePullBackOff', 'ErrImagePull'), ['ImagePullFailed']);
    assert.deepEqual(names('all is well'), []);
  });

  it('is looked for in the beginning of a message: otherwise, these would run into the time-out', () => {
    const beginnings = ['pipe/containerd-containerd', 'CreateProcess', 'failed to resolve reference '];
    for (const text of beginnings) assert.equal(knownErrorIn(`${text}${' a'.repeat(500_000)}`), undefined);
  });

  it('is put before the message that it explains', () => {
    assert.match(
      withCause('There is not enough space on the disk. (0x70)'),
      /^The disk of the node is full\. .* \(There is not enough/,
    );
    assert.equal(withCause('ErrImagePull'), 'ErrImagePull');
    assert.equal(withCause('all is well'), 'all is well');
  });
});

describe('an exit code of Windows', () => {
  it('is known as a positive and as a negative number, and one of a program is not', () => {
    for (const { code, name } of KNOWN_EXIT_CODES)
      assert.deepEqual([knownExitCode(code)?.name, knownExitCode(code | 0)?.name], [name, name]);
    assert.equal(knownExitCode(-1073741819)?.name, 'STATUS_ACCESS_VIOLATION');
    assert.deepEqual([0, 1, 255, 137].map(knownExitCode), [undefined, undefined, undefined, undefined]);
  });
});
