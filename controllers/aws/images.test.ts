import assert from 'node:assert/strict';
import { imageIdFor } from '../../test/fakes/localaws/ec2/images.ts';
import { memoryCloud } from '../../test/fakes/localaws/testing/testClock.ts';
import { createImages } from './images.ts';
import { callsOf } from './testing/callsOf.ts';

const { signal } = new AbortController();

function over(send: (operation: string, input: object) => Promise<unknown>) {
  return createImages(callsOf(send), callsOf(send));
}

/** The adapter over the local AWS, and what it sends. */
function world() {
  const { cloud } = memoryCloud();
  const sent: object[] = [];
  const images = over((operation, input) => {
    sent.push(input);
    return cloud.send(operation as 'DescribeImages', input, signal);
  });
  return { cloud, images, sent };
}

describe('an AMI', () => {
  it('is read with its properties and dates, also if it is deprecated or disabled', async () => {
    const { cloud, images, sent } = world();
    const times = { createdAt: '2026-01-02T03:04:05.000Z', deprecatedAt: '2026-06-07T08:09:10.000Z' };
    cloud.faults.image({ id: 'ami-0a000001', name: 'golden-17', state: 'disabled', ...times });
    assert.deepEqual(await images.find('ami-0a000001', signal), {
      ok: true,
      value: {
        id: 'ami-0a000001',
        name: 'golden-17',
        state: 'disabled',
        isWindows: true,
        architecture: 'x86_64',
        rootVolumeGiB: 50,
        isOfAmazon: false,
        createdAt: Date.parse(times.createdAt),
        deprecatedAt: Date.parse(times.deprecatedAt),
      },
    });
    assert.deepEqual(sent, [{ ImageIds: ['ami-0a000001'], IncludeDeprecated: true, IncludeDisabled: true }]);
  });

  it('is not one of Windows if EC2 says nothing about its platform', async () => {
    const { cloud, images } = world();
    cloud.faults.image({ id: 'ami-0a000001', platform: '' });
    const answer = await images.find('ami-0a000001', signal);
    assert.equal(answer.ok && answer.value?.isWindows, false);
  });

  it("is Amazon's until AWS makes it private", async () => {
    const { cloud, images } = world();
    const id = imageIdFor('WINDOWS_CORE_2022_x86_64', '1.36-2026.03.17');
    const answer = await images.find(id, signal);
    assert.equal(answer.ok && answer.value?.isOfAmazon, true);
    cloud.faults.release({ date: '2026.03.17', public: false });
    assert.deepEqual(await images.find(id, signal), { ok: true, value: undefined });
  });

  it('does not exist if EC2 does not find it, or returns none', async () => {
    const gone = { ok: true, value: undefined } as const;
    assert.deepEqual(await world().images.find('ami-0a000001', signal), gone);
    assert.deepEqual(await over(async () => ({ Images: [] })).find('ami-0a000001', signal), gone);
  });

  it('is named by the value of a parameter, whatever that is', async () => {
    const { cloud, images } = world();
    assert.deepEqual(await images.idIn('/windowspool/golden', signal), { ok: true, value: undefined });
    cloud.faults.parameter({ name: '/windowspool/golden', value: 'ami-0a000001' });
    assert.deepEqual(await images.idIn('/windowspool/golden', signal), { ok: true, value: 'ami-0a000001' });
  });

  it('is not named by a value that is longer than any ID', async () => {
    const answer = await over(async () => ({ Parameter: { Value: 'x'.repeat(257) } })).idIn(
      '/windowspool/golden',
      signal,
    );
    assert.equal(!answer.ok && answer.error.code, 'MalformedResponse');
    assert.match(answer.ok ? '' : answer.error.message, /Parameter\.Value: 257 characters, more than 256/);
  });

  it('has no dates that are none', async () => {
    const dates = { CreationDate: 'yesterday', DeprecationTime: '+012345-01-01T00:00:00Z' };
    const answer = await over(async () => ({ Images: [dates] })).find('ami-0a000001', signal);
    assert.deepEqual(answer.ok && answer.value, {
      id: 'ami-0a000001',
      name: '',
      state: '',
      isWindows: false,
      architecture: '',
      isOfAmazon: false,
    });
  });

  it('is unknown if the call fails', async () => {
    const failing = over(async () => {
      throw Object.assign(new Error('no'), { name: 'UnauthorizedOperation', $metadata: { httpStatusCode: 403 } });
    });
    const answer = await failing.find('ami-0a000001', signal);
    assert.equal(!answer.ok && answer.error.kind, 'denied');
  });
});
