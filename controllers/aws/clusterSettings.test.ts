import assert from 'node:assert/strict';
import type { Addon, Addons } from '../windowspool/ports/prerequisites.ts';
import { createAccessEntries, createAddons } from './clusterSettings.ts';
import { callsOf } from './testing/callsOf.ts';

const { signal } = new AbortController();
const ROLE = 'arn:aws:iam::111122223333:role/windows-nodes';

/** The ports on an EKS that always returns the same. */
function answering(answer: object | Error) {
  const calls: unknown[] = [];
  const eks = callsOf(async (operation, input) => {
    calls.push([operation, input]);
    if (answer instanceof Error) throw answer;
    return { $metadata: {}, ...answer };
  });
  return { calls, addons: createAddons('prod', eks), entries: createAccessEntries('prod', eks) };
}

function failing(name: string, message: string): Error {
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode: 400 } });
}

const GONE = failing('ResourceNotFoundException', 'No addon: vpc-cni found in cluster: prod');
const NO_CLUSTER = failing('ResourceNotFoundException', 'No cluster found for name: prod.');

describe('an add-on', () => {
  it('is read with its Windows setting and its health issues', async () => {
    const { calls, addons } = answering({
      addon: {
        status: 'UPDATE_FAILED',
        configurationValues: '{"enableWindowsIpam":"true"}',
        modifiedAt: new Date(5_000),
        health: { issues: [{ code: 'ConfigurationConflict', message: 'Conflicts found (request id: 1-2)' }] },
      },
    });
    assert.deepEqual(await addons.find('vpc-cni', signal), {
      ok: true,
      value: {
        status: 'UPDATE_FAILED',
        windowsIpam: true,
        issues: ['ConfigurationConflict: Conflicts found'],
        modifiedAt: 5_000,
      },
    });
    assert.deepEqual(calls, [['DescribeAddon', { clusterName: 'prod', addonName: 'vpc-cni' }]]);
  });

  it('has no Windows setting if its values cannot be parsed', async () => {
    const { addons } = answering({ addon: { configurationValues: '{' } });
    const answer = await addons.find('vpc-cni', signal);
    assert.equal(answer.ok && answer.value?.windowsIpam, undefined);
  });

  it('does not enable Windows IPAM without configuration values', async () => {
    for (const answer of [{ addon: {} }, {}]) {
      assert.deepEqual(await answering(answer).addons.find('vpc-cni', signal), {
        ok: true,
        value: { status: 'UNKNOWN', windowsIpam: false, issues: [], modifiedAt: 0 },
      });
    }
  });

  it('is absent if it is not installed, but not if the cluster does not exist', async () => {
    assert.deepEqual(await answering(GONE).addons.find('vpc-cni', signal), { ok: true, value: undefined });
    const answer = await answering(NO_CLUSTER).addons.find('vpc-cni', signal);
    assert.equal(!answer.ok && answer.error.kind, 'gone');
  });
});

describe('configuring an add-on', () => {
  const seen: Addon = { status: 'ACTIVE', windowsIpam: false, issues: [], modifiedAt: 5_000 };
  const found = { status: 'ACTIVE', modifiedAt: new Date(5_000), configurationValues: '{"env":{"A":"b"}}' };
  const configure = (addons: Addons) =>
    addons.configure('vpc-cni', { enableWindowsIpam: 'true' }, seen, 'token', signal);
  const update = {
    clusterName: 'prod',
    addonName: 'vpc-cni',
    configurationValues: '{"env":{"A":"b"},"enableWindowsIpam":"true"}',
    resolveConflicts: 'PRESERVE',
    clientRequestToken: 'token',
  };

  it('reads it again, and sends all values with the new one but no version or role', async () => {
    const { calls, addons } = answering({ addon: { ...found, addonVersion: 'v1' } });
    assert.deepEqual(await configure(addons), { ok: true, value: undefined });
    assert.deepEqual(calls, [
      ['DescribeAddon', { clusterName: 'prod', addonName: 'vpc-cni' }],
      ['UpdateAddon', update],
    ]);
  });

  it('keeps its role', async () => {
    const { calls, addons } = answering({ addon: { ...found, serviceAccountRoleArn: ROLE } });
    await configure(addons);
    assert.deepEqual(calls.at(-1), ['UpdateAddon', { ...update, serviceAccountRoleArn: ROLE }]);
  });

  const refused: readonly [what: string, addon: object, error: object][] = [
    [
      'that changed since it was read',
      { ...found, modifiedAt: new Date(6_000) },
      { kind: 'conflict', code: 'Conflict', message: 'Add-on vpc-cni changed since it was read' },
    ],
    [
      'that is being updated',
      { ...found, status: 'UPDATING' },
      { kind: 'conflict', code: 'Conflict', message: 'Add-on vpc-cni changed since it was read' },
    ],
    [
      'whose values cannot be parsed',
      { ...found, configurationValues: '[' },
      {
        kind: 'refused',
        code: 'Malformed',
        message: 'The configuration values of add-on vpc-cni are neither JSON nor YAML',
      },
    ],
  ];
  for (const [what, addon, error] of refused) {
    it(`does not change an add-on ${what}`, async () => {
      const { calls, addons } = answering({ addon });
      assert.deepEqual(await configure(addons), { ok: false, error: { operation: 'UpdateAddon', ...error } });
      assert.equal(calls.length, 1);
    });
  }

  it('returns the error if it cannot be read', async () => {
    const answer = await configure(answering(failing('AccessDeniedException', 'not authorized')).addons);
    assert.deepEqual(!answer.ok && [answer.error.operation, answer.error.kind], ['DescribeAddon', 'denied']);
  });
});

describe('an access entry', () => {
  it('is read by its role, with its time and with its type in capitals', async () => {
    const { calls, entries } = answering({ accessEntry: { type: 'EC2_Windows', createdAt: new Date(5_000) } });
    assert.deepEqual(await entries.find(ROLE, signal), { ok: true, value: { type: 'EC2_WINDOWS', createdAt: 5_000 } });
    assert.deepEqual(calls, [['DescribeAccessEntry', { clusterName: 'prod', principalArn: ROLE }]]);
  });

  it('is of type STANDARD if EKS returns no type', async () => {
    assert.deepEqual(await answering({}).entries.find(ROLE, signal), { ok: true, value: { type: 'STANDARD' } });
  });

  it('is absent if it does not exist, but not if the cluster does not exist', async () => {
    assert.deepEqual(await answering(GONE).entries.find(ROLE, signal), { ok: true, value: undefined });
    const answer = await answering(NO_CLUSTER).entries.find(ROLE, signal);
    assert.equal(!answer.ok && answer.error.kind, 'gone');
  });

  it('is created with type EC2_WINDOWS and a token', async () => {
    const { calls, entries } = answering({});
    assert.deepEqual(await entries.create(ROLE, {}, 'web-1', signal), { ok: true, value: undefined });
    assert.deepEqual(calls, [
      [
        'CreateAccessEntry',
        { clusterName: 'prod', principalArn: ROLE, type: 'EC2_WINDOWS', clientRequestToken: 'web-1' },
      ],
    ]);
  });

  it('is created with the tags', async () => {
    const { calls, entries } = answering({});
    await entries.create(ROLE, { team: 'shop' }, 'web-1', signal);
    assert.partialDeepStrictEqual(calls, [['CreateAccessEntry', { tags: { team: 'shop' } }]]);
  });

  it('returns a transient error if it already exists', async () => {
    const answer = await answering(failing('ResourceInUseException', 'already in use')).entries.create(
      ROLE,
      {},
      't',
      signal,
    );
    assert.equal(!answer.ok && answer.error.kind, 'busy');
  });
});
