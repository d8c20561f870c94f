import assert from 'node:assert/strict';
import type { IpamAttempts, IpamOffer, PrerequisiteFacts } from '../../../model/prerequisites.ts';
import type { CallError } from '../../../ports/callResult.ts';
import type { Addon } from '../../../ports/prerequisites.ts';
import { known } from '../../../testing/answers.ts';
import { MINUTE, NOW, sampleError, settings } from '../../../testing/fixtures.ts';
import {
  sampleAddon,
  sampleConfigMapOwner,
  sampleFacts,
  sampleInput,
  unasked,
} from '../../../testing/prerequisites.ts';
import { examine } from './checks.ts';
import { nextIpamMove } from './windowsIpam.ts';
import { WindowsIpamLock } from './windowsIpamLock.ts';

const { pollMs, resyncMs, createRetryMs } = settings;
const offer = (attempts: IpamAttempts = {}, error?: CallError): IpamOffer => ({
  now: NOW,
  attempts,
  error,
  pollMs,
  resyncMs,
  createRetryMs,
});
const off = known({ 'enable-windows-ipam': 'false' });
const factsOf = (change: Partial<PrerequisiteFacts>) =>
  sampleFacts({ cniConfig: off, cniConfigOwner: known(sampleConfigMapOwner()), ...change });
const withAddon = (change: Partial<Addon> = {}) => factsOf({ cniAddon: known(sampleAddon(change)) });
const recently = NOW - MINUTE;

const OFF =
  'Windows IPAM is off, so pods get no addresses. ConfigMap kube-system/amazon-vpc-cni has enable-windows-ipam: "false" (last written by kubectl-edit at 2026-03-01T11:00:00Z).';

describe('Windows IPAM that the operator enables', () => {
  /** What is true, the step that is next, and the message after what was found. */
  const rows: readonly [what: string, facts: PrerequisiteFacts, offer: IpamOffer, next: string, message: string][] = [
    [
      'in the ConfigMap where the add-on is not installed',
      factsOf({}),
      offer(),
      'applyCniConfig',
      'The operator enables it in the ConfigMap (--enable-windows-ipam)',
    ],
    [
      'in the add-on that owns it',
      withAddon(),
      offer(),
      'updateAddon',
      'The operator enables it in the vpc-cni add-on of cluster prod (--enable-windows-ipam)',
    ],
    [
      'in a DEGRADED add-on, too',
      withAddon({ status: 'DEGRADED' }),
      offer(),
      'updateAddon',
      'The operator enables it in the vpc-cni add-on of cluster prod (--enable-windows-ipam)',
    ],
    [
      'not while the add-on is updated',
      withAddon({ status: 'UPDATING' }),
      offer(),
      'wait',
      'The vpc-cni add-on is UPDATING. Wait',
    ],
    [
      'not in an add-on that was never installed',
      withAddon({ status: 'CREATE_FAILED', issues: ['AccessDenied: no.', 'InternalFailure: what'] }),
      offer(),
      'blocked',
      'The vpc-cni add-on is CREATE_FAILED: AccessDenied: no and InternalFailure: what. Repair it, or remove it and install it again',
    ],
    [
      'not in an add-on whose values are unreadable',
      withAddon({ windowsIpam: undefined }),
      offer(),
      'blocked',
      'The configuration values of the vpc-cni add-on are neither a JSON nor a YAML object, so the operator cannot add to them. Correct them in the add-on',
    ],
    [
      'not again at once in an add-on whose update failed',
      withAddon({ status: 'UPDATE_FAILED', issues: ['ConfigurationConflict: Conflicts found.'], modifiedAt: recently }),
      offer(),
      'blocked',
      `EKS failed to update the vpc-cni add-on: ConfigurationConflict: Conflicts found. Fix the cause. The operator tries again at 2026-03-01T12:14:00Z`,
    ],
    [
      'again in an add-on whose update failed long ago',
      withAddon({ status: 'UPDATE_FAILED', windowsIpam: true }),
      offer(),
      'updateAddon',
      'The operator enables it in the vpc-cni add-on of cluster prod (--enable-windows-ipam)',
    ],
    [
      'not again at once in an add-on where another user disabled it',
      withAddon(),
      offer({ updateAddon: recently }),
      'blocked',
      'The operator enabled it in the vpc-cni add-on, and another user disabled it there. The operator tries again at 2026-03-01T12:09:00Z',
    ],
    [
      'again in an add-on where another user disabled it, after the resync interval',
      withAddon(),
      offer({ updateAddon: NOW - resyncMs }),
      'updateAddon',
      'The operator enables it in the vpc-cni add-on of cluster prod (--enable-windows-ipam)',
    ],
    [
      'not in the ConfigMap that EKS may be about to write',
      withAddon({ windowsIpam: true, modifiedAt: NOW - pollMs / 2 }),
      offer(),
      'wait',
      'The vpc-cni add-on was just updated. Wait',
    ],
    [
      'in the ConfigMap that differs from its add-on, although the add-on was just updated by the operator',
      withAddon({ windowsIpam: true }),
      offer({ updateAddon: recently }),
      'applyCniConfig',
      'The operator enables it in the ConfigMap (--enable-windows-ipam)',
    ],
    [
      'not again at once in the ConfigMap',
      factsOf({}),
      offer({ applyCniConfig: recently }),
      'blocked',
      'The operator enabled it in the ConfigMap, and another user disabled it. Set it at its source. The operator tries again at 2026-03-01T12:09:00Z',
    ],
    [
      'not again at once in a ConfigMap that a tool manages',
      factsOf({ cniConfigOwner: known(sampleConfigMapOwner({ managedBy: 'Helm release kube-system/aws-vpc-cni' })) }),
      offer({ applyCniConfig: recently }),
      'blocked',
      'The operator enabled it in the ConfigMap, which Helm release kube-system/aws-vpc-cni manages, and another user disabled it. Set it at its source. The operator tries again at 2026-03-01T12:09:00Z',
    ],
    [
      'not where the owner is unknown',
      factsOf({ cniAddon: unasked() }),
      offer(),
      'blocked',
      'The operator enables it when it knows the owner, which needs eks:DescribeAddon',
    ],
    [
      'not again after a refusal',
      withAddon(),
      offer({}, sampleError('refused', { operation: 'UpdateAddon', message: 'no such value.' })),
      'blocked',
      'UpdateAddon failed: no such value. The operator tries again',
    ],
  ];
  for (const [what, facts, given, next, message] of rows) {
    it(what, () => {
      assert.equal(nextIpamMove(facts, given).kind, next);
      const { failed } = examine(sampleInput({ facts, windowsIpam: given }));
      assert.deepEqual(
        failed.map(({ check, result }) => [check.reason, result.message, result.passes ?? false]),
        [['WindowsIPAMDisabled', `${OFF} ${message}`, next !== 'blocked']],
      );
    });
  }

  it('not where the ConfigMap may not be read once more', () => {
    const move = nextIpamMove(factsOf({ cniConfigOwner: unasked() }), offer());
    assert.deepEqual(move, {
      kind: 'blocked',
      why: 'The operator enables it when it can read the ConfigMap: get configmaps kube-system/amazon-vpc-cni',
    });
  });
});

describe('the lock on Windows IPAM', () => {
  const denied = { at: NOW, step: 'updateAddon', error: sampleError('denied') };

  it('lets one pool change it at a time, and none that looked before that ended', () => {
    const lock = new WindowsIpamLock();
    assert.equal(lock.begin(NOW), true);
    assert.equal(lock.begin(NOW + 1), false);
    lock.end(NOW + 2, { done: 'updateAddon' });
    assert.deepEqual([lock.begin(NOW + 2), lock.begin(NOW + 3)], [false, true]);
    assert.deepEqual(lock.attempts, { updateAddon: NOW + 2 });
  });

  it('tells all pools what lasts, until it is due again', () => {
    const lock = new WindowsIpamLock();
    lock.end(NOW, { error: denied });
    assert.deepEqual([lock.errorSince(NOW - 1), lock.errorSince(NOW), lock.attempts], [[denied], [], {}]);
    lock.end(NOW, { error: { ...denied, error: sampleError('throttled') } });
    assert.deepEqual(lock.errorSince(NOW - 1), []);
  });
});
