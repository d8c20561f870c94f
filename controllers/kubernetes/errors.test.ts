import assert from 'node:assert/strict';
import { errorOfNetwork, errorOfResponse, isNotFound, toCallError, toCallResult } from './errors.ts';
import { KubernetesError } from './kubernetesError.ts';

const live = new AbortController().signal;

describe('an error of the API server', () => {
  const kinds: [status: number | undefined, kind: string][] = [
    [400, 'refused'],
    [401, 'denied'],
    [403, 'denied'],
    [404, 'gone'],
    [409, 'conflict'],
    [413, 'refused'],
    [415, 'refused'],
    [422, 'refused'],
    [429, 'throttled'],
    [418, 'unknown'],
    [500, 'unavailable'],
    [503, 'unavailable'],
    [504, 'unavailable'],
    [undefined, 'unavailable'],
  ];
  for (const [status, kind] of kinds) {
    it(`is ${kind} for ${status ?? 'a missing response'}`, () => {
      const error = new KubernetesError('its words', { status, reason: 'Reason' });
      assert.deepEqual(toCallError(error, 'patch nodes'), {
        kind,
        operation: 'patch nodes',
        code: 'Reason',
        message: 'its words',
      });
    });
  }

  it('is refused if the object is as large as etcd allows, which another attempt does not change', () => {
    const full = new KubernetesError('etcdserver: request is too large', { status: 500, reason: 'Unknown' });
    assert.equal(toCallError(full, 'patch nodes/status').kind, 'refused');
  });

  it('is refused if a webhook rejects the object, or the schema does not have a field', () => {
    for (const [status, message] of [
      [403, 'admission webhook "validation.machineset.machine.openshift.io" denied the request: no image'],
      [
        500,
        'failed to create typed patch object (a/windows; cluster.x-k8s.io/v1beta2, Kind=MachineDeployment): .spec.x: field not declared in schema',
      ],
    ] as const)
      assert.equal(toCallError(new KubernetesError(message, { status, reason: 'No' }), 'patch').kind, 'refused');
  });

  it('is a conflict if the uid in a patch does not match, although it is reported as an invalid field', () => {
    const details = { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.uid' }] };
    const status = { kind: 'Status', reason: 'Invalid', message: 'field is immutable', details };
    const body = Buffer.from(JSON.stringify(status));
    assert.equal(toCallError(errorOfResponse(422, undefined, body), 'patch nodes').kind, 'conflict');
  });

  it('is returned as a value', async () => {
    assert.deepEqual(await toCallResult('get nodes', live, async () => 7), { ok: true, value: 7 });
    const failed = await toCallResult('get nodes', live, async () =>
      Promise.reject(errorOfNetwork({ code: 'ECONNRESET' }, 'http://x')),
    );
    assert.deepEqual(failed, {
      ok: false,
      error: {
        kind: 'unavailable',
        operation: 'get nodes',
        code: 'ECONNRESET',
        message: 'no response from http://x: ECONNRESET',
      },
    });
  });

  it('is thrown if the caller aborted, or if it is a bug', async () => {
    const fail = (error: Error) => async () => Promise.reject(error);
    await assert.rejects(toCallResult('get nodes', live, fail(new TypeError('a bug'))), /a bug/);
    const aborted = AbortSignal.abort(new Error('enough'));
    await assert.rejects(toCallResult('get nodes', aborted, fail(new KubernetesError('x', { reason: 'x' }))), /enough/);
  });

  it('is "not found" only if it is a 404', () => {
    assert.equal(isNotFound(new KubernetesError('x', { status: 404, reason: 'NotFound' })), true);
    assert.equal(isNotFound(new KubernetesError('x', { status: 410, reason: 'Gone' })), false);
    assert.equal(isNotFound(new Error('404')), false);
  });
});
