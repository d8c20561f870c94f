import assert from 'node:assert/strict';
import { ERROR_MESSAGES } from '../testing/errorMessages.ts';
import { KNOWN_ERRORS } from './catalogue.ts';
import { KNOWN_EXIT_CODES } from './exitCodes.ts';
import { explain, knownErrorIn, knownExitCode, withCause } from './explain.ts';

/** Messages with words of known errors that mean something else, and messages that need no explanation. */
const OTHERS: readonly string[] = [
  'FailedMount: MountVolume.SetUp failed for volume "secrets" : rpc error: code = Unknown desc = 403 Forbidden: AccessDeniedException',
  'FailedMount: MountVolume.SetUp failed for volume "tls" : secret "tls" not found',
  'FailedPostStartHook: Exec lifecycle hook ([curl http://a]) failed: dial tcp 10.0.0.9:80: connect: connection refused',
  'failed calling webhook "vpod.example.com": Post "https://hook.svc/": x509: certificate signed by unknown authority',
  'InvalidDiskCapacity: invalid capacity 0 on image filesystem',
  'NodeNotReady: Node is not ready',
  'BackOff: Back-off restarting failed container app in pod app_shop(u)',
  'Pulled: Successfully pulled image "example.com/app:1" in 12m',
  'Evicted: Evicted pod: Underutilized',
  'Nominated: Pod should schedule on: nodeclaim/windows-x2x9',
  'DisruptionBlocked: Pod has "karpenter.sh/do-not-disrupt" annotation',
  'TaintManagerEviction: Cancelling deletion of Pod shop/app',
  "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
  'kubelet is posting ready status',
  'CSINode is not yet initialized',
  'SandboxChanged: Pod sandbox changed, it will be killed and re-created.',
];

describe('a known error', () => {
  for (const [message, name] of ERROR_MESSAGES)
    it(`${name} is found in: ${message.slice(0, 80)}`, () => assert.equal(knownErrorIn(message)?.name, name));

  for (const message of OTHERS)
    it(`is not found in: ${message.slice(0, 80)}`, () => assert.equal(knownErrorIn(message)?.name, undefined));

  it('has a message for each entry of the catalogue', () => {
    const seen = new Set(ERROR_MESSAGES.map(([, name]) => name));
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
    const beginnings = ['pipe/containerd-containerd', 'CreateProcess', 'failed to resolve reference ', 'csi.sock'];
    for (const text of beginnings) {
      assert.equal(knownErrorIn(`${text}${' a'.repeat(500_000)}`), undefined);
      assert.equal(knownErrorIn(`${text} `.repeat(50_000)), undefined);
    }
  });

  it('that is only possible is part of a sentence: its cause does not begin with a name', () => {
    for (const { cause, isPossible } of KNOWN_ERRORS) if (isPossible) assert.match(cause, /^(?:A|An|The) /);
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
