import assert from 'node:assert/strict';
import { assertGolden } from '../../test/goldenText.ts';
import { diagnosisLines, diagnosisOf, problemsIn } from './diagnose.ts';
import { evidence, placed, podSituations, podWith, runs } from './testing/podSituations.ts';
import { plain } from './text.ts';

describe('kubectl windowspool diagnose', () => {
  it('shows why a pod does not run, and what to do', async () => {
    const texts = Object.entries(podSituations).map(([name, each]) =>
      [`# a pod that ${name}`, ...diagnosisLines(diagnosisOf(each), 80, plain)].join('\n'),
    );
    await assertGolden('plugin/diagnose', `${texts.join('\n\n')}\n`);
  });

  it('does not say that a pod with an address gets none', () => {
    const containers = [{ name: 'app', image: 'app', resources: {} }];
    const whats = (status: object) =>
      diagnosisOf(evidence({ pod: podWith({ ...placed, containers }, status) })).causes.map(({ what }) => what);
    assert.equal(
      whats({}).some((what) => what.includes('gets no IP address')),
      true,
    );
    assert.equal(
      whats(runs).some((what) => what.includes('gets no IP address')),
      false,
    );
  });

  it('reads warnings, and that an image is being pulled until a later event', () => {
    const at = (minute: number, type: string, reason: string) => ({
      type,
      reason,
      note: 'note',
      eventTime: `2026-11-24T10:0${minute}:00.000000Z`,
    });
    const pulling = at(1, 'Normal', 'Pulling');
    const failed = at(2, 'Warning', 'Failed');
    assert.deepEqual(problemsIn([at(0, 'Warning', 'FailedMount'), pulling]), ['Pulling: note', 'FailedMount: note']);
    assert.deepEqual(problemsIn([pulling, failed]), ['Failed: note']);
    assert.deepEqual(problemsIn([pulling, at(2, 'Normal', 'Pulled')]), []);
    assert.deepEqual(problemsIn([at(2, 'Normal', 'NotTriggerScaleUp'), at(3, 'Normal', 'Other')]), [
      'NotTriggerScaleUp: note',
    ]);
  });

  it('finds a cause for each pod that has one', () => {
    for (const [name, each] of Object.entries(podSituations))
      assert.equal(diagnosisOf(each).causes.length === 0, ['runs', 'has no events yet'].includes(name), name);
  });
});
