/** Texts that a kubelet or a user chooses, wherever the domain parses them. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { evaluateConditions } from './conditions/evaluateConditions.ts';
import { describeOpening, isInWindow, nextOpening, windowFault } from './disruption/maintenance.ts';
import { parseKernelVersion } from './nodes/windowsVersions.ts';
import { foreignText } from './ports/foreignText.ts';
import { dateOf } from './providers/nodeGroup/versions/releaseVersion.ts';
import { specSchema, violations } from './testing/crdSchema.ts';
import { NOW, outcomeOf, sampleNode, samplePool, sampleState } from './testing/fixtures.ts';
import { durationOf } from './util/durations.ts';
import { parseQuantity } from './util/quantity.ts';

const TEXTS = 1_000;

const part = fc.constantFrom(
  '10.0.',
  '20348',
  '.',
  '9',
  'v1.',
  '36',
  'containerd://',
  '-',
  '+',
  'e9',
  'Ki',
  'h',
  's',
  ' ',
  '世',
  '🪟',
);
/** As the adapters cut it. */
const text = fc.string({ unit: part, maxLength: 200 }).map((long) => foreignText(long));

describe('a text of a kubelet', () => {
  it('is a number, a version, a duration or a date, or none', () => {
    fc.assert(
      fc.property(text, (any) => {
        assert.ok(Number.isFinite(parseQuantity(any) ?? 0));
        assert.ok(Number.isFinite(parseKernelVersion(any)?.revision ?? 0));
        assert.ok(durationOf(any) >= 0);
        assert.match(dateOf(any) ?? '2026-01-01', /^\d{4}-\d{2}-\d{2}$/);
      }),
      { numRuns: TEXTS },
    );
  });

  it('makes messages of limited length, wherever a node has it', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const node = sampleNode({
          kernelVersion: a,
          kubeletVersion: b,
          containerRuntimeVersion: a,
          operatingSystem: a,
          architecture: b,
          readyReason: b,
          runtimeHandlers: [a],
          capacity: { memory: a, 'vpc.amazonaws.com/PrivateIPv4Address': b },
          allocatable: { memory: b, 'vpc.amazonaws.com/PrivateIPv4Address': a },
          taints: [{ key: a, value: b, effect: 'NoSchedule' }],
          labels: { ...sampleNode().labels, 'node.kubernetes.io/windows-build': a },
        });
        const pool = samplePool({ verification: { minimumRevision: 5, minimumReservedMemory: '2Gi' } });
        for (const { message } of Object.values(evaluateConditions(outcomeOf(sampleState({ pool, nodes: [node] })))))
          assert.ok(message.length < 4_096, message);
      }),
      { numRuns: TEXTS },
    );
  });
});

describe('a maintenance window', () => {
  const update = specSchema.properties?.nodeGroup?.properties?.update;
  const schema = update?.properties?.maintenanceWindows?.items ?? assert.fail('the schema has no windows');
  // Of the form that the schema accepts: others are rejected before they are parsed.
  const odd = fc.oneof(
    fc.constantFrom('*/5', '0-59/0', '31', '99', 'SAT,SUN', '59-1', 'FEB', '29'),
    fc.stringMatching(/^(\*|\d{1,2}|[A-Z]{3})(-(\d{1,2}|[A-Z]{3}))?(\/\d{1,2})?(,\d{1,2})?$/),
  );
  const fieldOf = (min: number, max: number, ...names: string[]) => {
    const usual = fc.oneof(fc.constantFrom('*', ...names), fc.integer({ min, max }).map(String));
    return fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: odd });
  };
  const fields = fc.tuple(
    fieldOf(0, 59, '*/20'),
    fieldOf(0, 23, '22-2/2'),
    fieldOf(1, 31, '29,30'),
    fieldOf(1, 12, 'FEB'),
    fieldOf(0, 7, 'SAT', 'MON-FRI'),
  );
  const window = fc
    .record({
      schedule: fields.map((each) => each.join(' ')),
      duration: fc.stringMatching(/^([0-9]{1,6}[hms]){1,2}$/),
      timeZone: fc.oneof(fc.constantFrom('Europe/Berlin', 'Mars/Olympus', '', '+23:59'), fc.string({ maxLength: 64 })),
    })
    .filter((any) => violations(schema, any).length === 0);
  const time = fc.oneof(fc.constant(NOW), fc.integer({ min: 0, max: Date.parse('2200-01-01') }));

  it('is open, opens later, or is invalid, for any cron expression, time zone and duration', () => {
    fc.assert(
      fc.property(window, time, (any, now) => {
        const windows = [any];
        const opening = nextOpening(windows, now);
        assert.ok(opening === undefined || opening.at > now);
        if (opening) assert.match(describeOpening(opening), /^\d{4}-\d\d-\d\dT\d\d:\d\dZ/);
        const fault = windowFault(windows, 'spec.nodeGroup.update.maintenanceWindows');
        assert.ok(!fault || (!isInWindow(windows, now) && opening === undefined), `${fault} but opens`);
        assert.ok((fault ?? '').length < 1_024);
      }),
      { numRuns: TEXTS },
    );
  });
});
