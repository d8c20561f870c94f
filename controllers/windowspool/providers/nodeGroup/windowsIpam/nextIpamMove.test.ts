import assert from 'node:assert/strict';
import type { CallError } from '../../../ports/callResult.ts';
import type { Addon } from '../../../ports/prerequisites.ts';
import { known } from '../../../testing/answers.ts';
import { MINUTE, NOW, sampleError, settings } from '../../../testing/fixtures.ts';
import { textTable } from '../../../testing/goldenTexts.ts';
import {
  examine,
  sampleAddon,
  sampleConfigMapOwner,
  sampleFacts,
  sampleInput,
  unasked,
} from '../../../testing/prerequisites.ts';
import type { CheckFacts, IpamAttempts, IpamOffer } from '../model/checkFacts.ts';
import { nextIpamMove } from './nextIpamMove.ts';
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
const factsOf = (change: Partial<CheckFacts>) =>
  sampleFacts({ cniConfig: off, cniConfigOwner: known(sampleConfigMapOwner()), ...change });
const withAddon = (change: Partial<Addon> = {}) => factsOf({ cniAddon: known(sampleAddon(change)) });
const recently = NOW - MINUTE;

const check = textTable('windowsIpam');

describe('the next step to enable Windows IPAM', () => {
  const rows: readonly [what: string, facts: CheckFacts, offer: IpamOffer, next: string, args: readonly string[]][] = [
    [
      'is to write the ConfigMap if the add-on is not installed',
      factsOf({}),
      offer(),
      'applyCniConfig',
      ['--enable-windows-ipam'],
    ],
    [
      'is to update the add-on if it is installed',
      withAddon(),
      offer(),
      'updateAddon',
      ['vpc-cni', 'prod', '--enable-windows-ipam'],
    ],
    [
      'is to update a DEGRADED add-on',
      withAddon({ status: 'DEGRADED' }),
      offer(),
      'updateAddon',
      ['vpc-cni', 'prod', '--enable-windows-ipam'],
    ],
    [
      'is to wait while the add-on is UPDATING',
      withAddon({ status: 'UPDATING' }),
      offer(),
      'wait',
      ['vpc-cni', 'UPDATING'],
    ],
    [
      'is blocked if the creation of the add-on failed',
      withAddon({ status: 'CREATE_FAILED', issues: ['AccessDenied: no.', 'InternalFailure: what'] }),
      offer(),
      'blocked',
      ['vpc-cni', 'CREATE_FAILED', 'AccessDenied: no and InternalFailure: what'],
    ],
    [
      'is blocked if the values of the add-on cannot be parsed',
      withAddon({ windowsIpam: undefined }),
      offer(),
      'blocked',
      ['vpc-cni'],
    ],
    [
      'is blocked for some time after an update of the add-on failed',
      withAddon({ status: 'UPDATE_FAILED', issues: ['ConfigurationConflict: Conflicts found.'], modifiedAt: recently }),
      offer(),
      'blocked',
      ['vpc-cni', 'ConfigurationConflict: Conflicts found', '12:14Z'],
    ],
    [
      'is to update an add-on again whose update failed long ago',
      withAddon({ status: 'UPDATE_FAILED', windowsIpam: true }),
      offer(),
      'updateAddon',
      ['vpc-cni', 'prod', '--enable-windows-ipam'],
    ],
    [
      'is blocked for some time after another user disabled it in the add-on',
      withAddon(),
      offer({ updateAddon: recently }),
      'blocked',
      ['vpc-cni', '12:09Z'],
    ],
    [
      'is to update the add-on again after the resync interval if another user disabled it',
      withAddon(),
      offer({ updateAddon: NOW - resyncMs }),
      'updateAddon',
      ['vpc-cni', 'prod', '--enable-windows-ipam'],
    ],
    [
      'is to wait if EKS may be about to write the ConfigMap',
      withAddon({ windowsIpam: true, modifiedAt: NOW - pollMs / 2 }),
      offer(),
      'wait',
      ['vpc-cni'],
    ],
    [
      'is to write a ConfigMap that differs from its add-on, although the operator just updated the add-on',
      withAddon({ windowsIpam: true }),
      offer({ updateAddon: recently }),
      'applyCniConfig',
      ['--enable-windows-ipam'],
    ],
    [
      'is blocked for some time after another user disabled it in the ConfigMap',
      factsOf({}),
      offer({ applyCniConfig: recently }),
      'blocked',
      ['12:09Z'],
    ],
    [
      'is blocked for some time after a tool disabled it in the ConfigMap',
      factsOf({ cniConfigOwner: known(sampleConfigMapOwner({ managedBy: 'Helm release kube-system/aws-vpc-cni' })) }),
      offer({ applyCniConfig: recently }),
      'blocked',
      ['kube-system/aws-vpc-cni', '12:09Z'],
    ],
    [
      'is blocked if the add-on cannot be read',
      factsOf({ cniAddon: unasked() }),
      offer(),
      'blocked',
      ['vpc-cni', 'eks:DescribeAddon'],
    ],
    [
      'is blocked after EKS rejected the update',
      withAddon(),
      offer({}, sampleError('refused', { operation: 'UpdateAddon', message: 'no such value.' })),
      'blocked',
      ['UpdateAddon', 'no such value'],
    ],
  ];
  for (const [what, facts, given, next, args] of rows) {
    const texts = () => {
      const { failed } = examine(sampleInput({ facts, windowsIpam: given }));
      return failed.map(({ message, isTransient }) => {
        assert.equal(isTransient ?? false, next !== 'blocked');
        return `${nextIpamMove(facts, given).kind}: ${message}`;
      });
    };
    check(what, texts, [[next, 'kube-system/amazon-vpc-cni', 'kubectl-edit at 2026-03-01T11:00:00Z', ...args]]);
  }

  it('is blocked if the owner of the ConfigMap cannot be read', () => {
    const move = nextIpamMove(factsOf({ cniConfigOwner: unasked() }), offer());
    assert.deepEqual(move, {
      kind: 'blocked',
      why: 'To enable it, the operator must read the ConfigMap. Grant get configmaps kube-system/amazon-vpc-cni',
    });
  });
});

describe('the lock on Windows IPAM', () => {
  const denied = { at: NOW, step: 'updateAddon' as const, error: sampleError('denied') };

  it('lets one pool change it at a time, and rejects pools that read it before the change ended', () => {
    const lock = new WindowsIpamLock();
    assert.equal(lock.begin(NOW), true);
    assert.equal(lock.begin(NOW + 1), false);
    lock.end(NOW + 2, { done: 'updateAddon' });
    assert.deepEqual([lock.begin(NOW + 2), lock.begin(NOW + 3)], [false, true]);
    assert.deepEqual(lock.attempts, { updateAddon: NOW + 2 });
  });

  it('reports a lasting error to all pools until the next attempt is due', () => {
    const lock = new WindowsIpamLock();
    lock.end(NOW, { error: denied });
    assert.deepEqual([lock.errorSince(NOW - 1), lock.errorSince(NOW), lock.attempts], [[denied], [], {}]);
    lock.end(NOW, { error: { ...denied, error: sampleError('throttled') } });
    assert.deepEqual(lock.errorSince(NOW - 1), []);
  });
});
