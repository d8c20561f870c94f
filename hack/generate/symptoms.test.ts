import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { diagnosisOf } from '../../cmd/kubectl-windowspool/diagnose.ts';
import type { Evidence } from '../../cmd/kubectl-windowspool/diagnosis.ts';
import {
  evidence,
  placed,
  podSituations,
  podWith,
  waiting,
} from '../../cmd/kubectl-windowspool/testing/podSituations.ts';
import { reasons } from '../../controllers/windowspool/api/reasons.ts';
import { KNOWN_ERRORS } from '../../controllers/windowspool/knownErrors/catalogue.ts';
import { KNOWN_EXIT_CODES } from '../../controllers/windowspool/knownErrors/exitCodes.ts';
import { causeOf, knownErrorIn } from '../../controllers/windowspool/knownErrors/explain.ts';
import { ERROR_MESSAGES } from '../../controllers/windowspool/testing/errorMessages.ts';
import { sampleNode, sampleNodes } from '../../controllers/windowspool/testing/fixtures.ts';
import { anchorsOf } from '../../test/docs/markdown.ts';
import { errorsPage } from './knownErrors.ts';
import { errorItem, symptomsPage } from './symptoms.ts';
import { SYMPTOMS } from './symptomTable.ts';

/** The ways in which a message reaches `diagnose`. */
function waysOf(message: string): Evidence[] {
  const [name = ''] = sampleNodes(1).map((node) => node.name);
  return [
    evidence({ warnings: [`FailedScheduling: ${message}`] }),
    evidence({ warnings: [message.startsWith('Pulling') ? message : `NotTriggerScaleUp: ${message}`] }),
    evidence({ pod: podWith(placed, waiting('ContainerCreating', '')), warnings: [message] }),
    evidence({ pod: podWith(placed, waiting('CreateContainerError', message)) }),
    evidence({ pod: podWith(placed, { phase: 'Failed', message }) }),
    evidence({ pod: podWith(placed), nodes: [sampleNode({ name, ready: 'False', readyMessage: message })] }),
  ];
}

const saidAbout = (given: Evidence) =>
  diagnosisOf(given).causes.map(({ what, remedy = '' }) => `${what} ${remedy}`.replaceAll('\n', ' '));

describe('docs/operate/symptoms.md', () => {
  const page = symptomsPage();

  for (const { title, pods = [], errors = [], exitCodes = [], runbooks = [], reasons: names = [] } of SYMPTOMS)
    describe(title, () => {
      it('refers to what exists, and to something that explains it', () => {
        const unknown = [
          ...errors.filter((name) => !KNOWN_ERRORS.some((known) => known.name === name)),
          ...exitCodes.filter((name) => !KNOWN_EXIT_CODES.some((known) => known.name === name)),
          ...names.filter((name) => !(name in reasons)),
          ...runbooks.filter((name) => !existsSync(`${import.meta.dirname}/../../docs/operate/runbooks/${name}.md`)),
        ];
        assert.deepEqual(unknown, []);
        assert.notEqual(pods.length + errors.length + names.length, 0);
      });

      for (const name of errors)
        it(`shows for ${name} what diagnose says`, () => {
          const error = KNOWN_ERRORS.find((known) => known.name === name);
          assert.ok(error);
          const messages = ERROR_MESSAGES.filter(([message]) => knownErrorIn(message) === error);
          assert.notEqual(messages.length, 0);
          for (const [message] of messages) {
            const said = waysOf(message).flatMap(saidAbout);
            assert.ok(
              said.some((text) => text.includes(causeOf(error)) && text.includes(error.remedy)),
              `${message} gives ${said.join('\n')}`,
            );
          }
          assert.ok(page.split('\n').includes(errorItem(name)));
          assert.ok(errorItem(name).includes(causeOf(error)));
          // The page that the item links to has the remedy.
          assert.ok(errorsPage().includes(`### ${name}\n\n${causeOf(error)} ${error.remedy}\n`));
        });

      for (const name of pods)
        it(`shows what diagnose says about a pod that ${name}`, () => {
          const [row = ''] = page.split('\n').filter((line) => line.startsWith(`| ${name} |`));
          const { causes } = diagnosisOf(podSituations[name]);
          const conclusive = causes.filter(
            ({ what }) => !/^(?:Karpenter|The scheduler|The cluster-autoscaler) says/.test(what),
          );
          assert.notEqual(conclusive.length, 0);
          for (const { what } of conclusive)
            assert.ok(row.includes(what.replaceAll('|', '\\|')), `${row} lacks: ${what}`);
        });
    });

  it('has each error of the catalogue under a symptom', () => {
    const listed = new Set(SYMPTOMS.flatMap(({ errors = [] }) => errors));
    assert.deepEqual(
      KNOWN_ERRORS.map(({ name }) => name).filter((name) => !listed.has(name)),
      [],
    );
  });

  it('keeps the anchors that are linked from elsewhere', () => {
    assert.deepEqual(anchorsOf(page), [
      'symptoms',
      'pod-pending',
      'error-0xc0370106',
      'error-0xc0370101',
      'no-match-for-platform',
      'failed-to-create-pod-sandbox',
      'node-notready',
      'no-pod-addresses',
      'node-group-failed-or-degraded',
      'update-stuck',
      'image-pull-takes-minutes',
      'image-pull-fails',
      'out-of-memory',
      'dns-fails',
      'gmsa-fails',
      'pods-survive-a-drain',
      'container-does-not-start',
      'volume-is-not-mounted',
      'probe-fails',
      'pod-evicted-or-lost',
    ]);
  });
});
