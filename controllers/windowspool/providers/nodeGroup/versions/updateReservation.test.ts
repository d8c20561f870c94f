import assert from 'node:assert/strict';
import { knownStatus, samplePool, sampleState } from '../../../testing/fixtures.ts';
import { reservationFor } from './updateReservation.ts';

const NEXT = '1.36-2026.03.17';

it('a share that is reserved while nodes of the last update join keeps its deadline', () => {
  const deadline = '2026-03-01T12:15:00Z';
  const last = {
    reason: 'Update' as const,
    target: 'last',
    change: `release ${NEXT}`,
    startTime: '2026-03-01T11:00:00Z',
  };
  const s = sampleState({ pool: samplePool({}, { status: { ...knownStatus(), disruption: { ...last, deadline } } }) });
  const change = { kubernetesVersion: '1.36', releaseVersion: NEXT, force: false };
  assert.deepEqual(reservationFor(s, change, 'another'), {
    ...last,
    target: 'another',
    startTime: '2026-03-01T12:00:00Z',
    deadline,
  });
});
