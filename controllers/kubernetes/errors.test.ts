import assert from 'node:assert/strict';
import { errorOfNetwork, errorOfResponse, isNotFound, toCallError, toCallResult } from './errors.ts';
import { KubernetesError } from './kubernetesError.ts';

const live = new AbortController().signal;

describe('errors of the API server', () => {
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
    it(`${status ?? 'no answer'} is ${kind}`, () => {
      const error = new KubernetesError('its words', { status, reason: 'Reason' });
      assert.deepEqual(toCallError(error, 'patch nodes'), {
        kind,
        operation: 'patch nodes',
        code: 'Reason',
        message: 'its words',
      });
    });
  }

  it('a uid that does not fit is a conflict, although it comes as a bad field', () => {
    const details = { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.uid' }] };
    const status = { kind: 'Status', reason: 'Invalid', message: 'field is immutable', details };
    const body = Buffer.from(JSON.stringify(status));
    assert.equal(toCallError(errorOfResponse(422, undefined, body), 'patch nodes').kind, 'conflict');
  });

  it('an answer is a value, good or bad', async () => {
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
        message: 'no answer from http://x: ECONNRESET',
      },
    });
  });

  it("the caller's abort and bugs are thrown", async () => {
    const fail = (error: Error) => async () => Promise.reject(error);
    await assert.rejects(toCallResult('get nodes', live, fail(new TypeError('a bug'))), /a bug/);
    const aborted = AbortSignal.abort(new Error('enough'));
    await assert.rejects(toCallResult('get nodes', aborted, fail(new KubernetesError('x', { reason: 'x' }))), /enough/);
  });

  it('only a 404 of the API server is "not found"', () => {
    assert.equal(isNotFound(new KubernetesError('x', { status: 404, reason: 'NotFound' })), true);
    assert.equal(isNotFound(new KubernetesError('x', { status: 410, reason: 'Gone' })), false);
    assert.equal(isNotFound(new Error('404')), false);
  });
});
