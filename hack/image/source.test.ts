import assert from 'node:assert/strict';
import { imageSource } from './source.ts';

describe('the time of the image', () => {
  it('is that of the commit', async () => {
    const { revision, created } = await imageSource({});
    assert.match(revision ?? '', /^[0-9a-f]{40}(-dirty)?$/);
    assert.match(created, /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  it('is SOURCE_DATE_EPOCH if that is set', async () => {
    const { created } = await imageSource({ SOURCE_DATE_EPOCH: '1767323045' });
    assert.equal(created, '2026-01-02T03:04:05Z');
  });

  it('is not read from what is no number', async () => {
    await assert.rejects(
      imageSource({ SOURCE_DATE_EPOCH: 'yesterday' }),
      /^Error: SOURCE_DATE_EPOCH=yesterday: must be/,
    );
  });
});
