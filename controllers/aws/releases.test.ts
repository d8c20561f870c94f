import assert from 'node:assert/strict';
import { MalformedResponse } from './errors.ts';
import { createImages } from './images.ts';
import { createReleases } from './releases.ts';
import { callsOf } from './testing/callsOf.ts';

const { signal } = new AbortController();
const FAMILY = '/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.35';
const PATH = `${FAMILY}/image_id`;

function failing(name: string): Error {
  return Object.assign(new Error('no'), { name, $metadata: { httpStatusCode: 400 } });
}

/** The adapter over an SSM, for the ID of the AMI and for the JSON about it, and an EC2 that return or throw these. */
function over(parameter: unknown, images: unknown, described: unknown = failing('ParameterNotFound')) {
  const calls: [string, unknown][] = [];
  const answering = (answerTo: (input: unknown) => unknown) => async (operation: string, input: unknown) => {
    calls.push([operation, input]);
    const answer = answerTo(input);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const inSsm = (input: unknown) => ((input as { Name: string }).Name === FAMILY ? described : parameter);
  const ssm = callsOf(answering(inSsm));
  const releases = createReleases(ssm, createImages(ssm, callsOf(answering(() => images))));
  const core2022 = { year: '2022', edition: 'Core' } as const;
  return {
    calls,
    newest: () => releases.newest(core2022, '1.35', signal),
    exists: () => releases.exists(core2022, '1.35', signal),
  };
}

const named = (Name: string) => ({ Images: [{ ImageId: 'ami-1', Name }] });
const parameter = { Parameter: { Value: 'ami-1' } };

describe('the newest AMI release', () => {
  const json = (value: unknown) => ({ Parameter: { Value: JSON.stringify(value) } });
  for (const release of ['1.35-2026.04.18', '1.35-2026-01-22'])
    it(`is read from the JSON in SSM, as it is spelled there (${release})`, async () => {
      const { calls, newest } = over(parameter, {}, json({ image_id: 'ami-1', release_version: release }));
      assert.deepEqual(await newest(), { ok: true, value: release });
      assert.deepEqual(calls, [['GetParameter', { Name: FAMILY }]]);
    });

  const other: readonly (readonly [string, unknown])[] = [
    ['has no release', json({ image_id: 'ami-1' })],
    ['has one of another minor version', json({ release_version: '1.34-2026.04.18' })],
    ['has one of another format', json({ release_version: '1.35.2-20260418' })],
    ['has no text as release', json({ release_version: 1.35 })],
    ['is no object', json(null)],
    ['is no JSON', { Parameter: { Value: 'ami-1' } }],
    ['may not be read', failing('AccessDeniedException')],
    ['is refused', failing('ValidationException')],
    ['is longer than any of SSM', new MalformedResponse('with Parameter.Value: 9000 characters, more than 8192')],
  ];
  for (const [what, described] of other)
    it(`is read from the name of the AMI if the JSON in SSM ${what}`, async () => {
      const name = 'Windows_Server-2022-English-Core-EKS_Optimized-1.35-2026.04.18';
      assert.deepEqual(await over(parameter, named(name), described).newest(), { ok: true, value: '1.35-2026.04.18' });
    });

  for (const [name, kind] of [
    ['ThrottlingException', 'throttled'],
    ['InternalError', 'unavailable'],
  ] as const)
    it(`is an error if SSM is ${kind}`, async () => {
      const answer = await over(parameter, {}, failing(name)).newest();
      assert.equal(!answer.ok && answer.error.kind, kind);
    });

  it('is otherwise read from the SSM parameter and the name of the AMI', async () => {
    const { calls, newest } = over(parameter, named('Windows_Server-2022-English-Core-EKS_Optimized-1.35-2026.04.18'));
    assert.deepEqual(await newest(), { ok: true, value: '1.35-2026.04.18' });
    assert.deepEqual(calls, [
      ['GetParameter', { Name: FAMILY }],
      ['GetParameter', { Name: PATH }],
      ['DescribeImages', { ImageIds: ['ami-1'], IncludeDeprecated: true, IncludeDisabled: true }],
    ]);
  });

  it('has the spelling of its AMI', async () => {
    const { newest } = over(parameter, named('Windows_Server-2022-English-Core-EKS_Optimized-1.35-2026-01-22'));
    assert.deepEqual(await newest(), { ok: true, value: '1.35-2026-01-22' });
  });

  const none: readonly (readonly [string, unknown, unknown])[] = [
    ['SSM has no parameter', failing('ParameterNotFound'), {}],
    ['the parameter is empty', {}, {}],
    ['EC2 does not find the AMI', parameter, failing('InvalidAMIID.NotFound')],
    ['EC2 returns no AMI', parameter, { Images: [] }],
    ['the name of the AMI has another format', parameter, named('golden-image')],
  ];
  for (const [what, ssm, ec2] of none) {
    it(`is unknown if ${what}`, async () =>
      assert.deepEqual(await over(ssm, ec2).newest(), { ok: true, value: undefined }));
  }

  for (const [what, ssm, ec2] of [
    ['SSM', failing('AccessDeniedException'), {}],
    ['EC2', parameter, failing('UnauthorizedOperation')],
  ] as const) {
    it(`is an error if ${what} denies the call`, async () => {
      const answer = await over(ssm, ec2).newest();
      assert.equal(!answer.ok && answer.error.kind, 'denied');
    });
  }
});

describe('whether EKS publishes an AMI for a minor version', () => {
  it('is read only from SSM', async () => {
    const { calls, exists } = over(parameter, {});
    assert.deepEqual([await exists(), calls], [{ ok: true, value: true }, [['GetParameter', { Name: PATH }]]]);
  });

  it('is false if SSM has no parameter, and an error if it denies or throttles the call', async () => {
    assert.deepEqual(await over(failing('ParameterNotFound'), {}).exists(), { ok: true, value: false });
    for (const [name, kind] of [
      ['AccessDeniedException', 'denied'],
      ['ThrottlingException', 'throttled'],
    ] as const) {
      const answer = await over(failing(name), {}).exists();
      assert.equal(!answer.ok && answer.error.kind, kind);
    }
  });
});
