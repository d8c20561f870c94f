import assert from 'node:assert/strict';
import fc from 'fast-check';
import { IGNORE_PREREQUISITES_ANNOTATION } from '../../../labels.ts';
import { prerequisiteReasons } from '../../../reasons.ts';
import { samplePool } from '../../../testing/fixtures.ts';
import { annotationFault, ignoredPrerequisites } from './ignored.ts';

const annotated = (value: string) =>
  samplePool({}, { metadata: { annotations: { [IGNORE_PREREQUISITES_ANNOTATION]: value } } });

describe('the annotation winpool.dev/ignore-prerequisites', () => {
  const rows: readonly (readonly [value: string, ignored: readonly string[], fault: string | undefined])[] = [
    ['', [], undefined],
    [' , ,', [], undefined],
    ['NodeRoleShared', ['NodeRoleShared'], undefined],
    [' TooFewAddresses , NodeRoleShared,NodeRoleShared', ['TooFewAddresses', 'NodeRoleShared'], undefined],
    [
      'NodeRoleShard,NoLinuxNode',
      ['NoLinuxNode'],
      'Annotation winpool.dev/ignore-prerequisites: unknown prerequisite NodeRoleShard (did you mean NodeRoleShared?), see docs/prerequisites.md for their names.',
    ],
    [
      'noderoleshared',
      [],
      'Annotation winpool.dev/ignore-prerequisites: unknown prerequisite noderoleshared (did you mean NodeRoleShared?), see docs/prerequisites.md for their names.',
    ],
    [
      'ClusterNotFound,ClusterMismatch',
      [],
      'Annotation winpool.dev/ignore-prerequisites: ClusterNotFound and ClusterMismatch cannot be ignored.',
    ],
    [
      'all,ClusterMismatch,true,yes,on',
      [],
      'Annotation winpool.dev/ignore-prerequisites: ClusterMismatch cannot be ignored; unknown prerequisite all, true, yes and 1 more, see docs/prerequisites.md for their names.',
    ],
  ];
  for (const [value, ignored, fault] of rows) {
    it(`of ${JSON.stringify(value)}`, () => {
      assert.deepEqual([...ignoredPrerequisites(annotated(value))], ignored);
      assert.equal(annotationFault(annotated(value)), fault);
    });
  }

  it('that is missing ignores nothing', () => {
    assert.deepEqual([...ignoredPrerequisites(samplePool())], []);
    assert.equal(annotationFault(samplePool()), undefined);
  });

  it('may list every prerequisite', () => {
    const pool = annotated(prerequisiteReasons.join(', '));
    assert.deepEqual([...ignoredPrerequisites(pool)], prerequisiteReasons);
    assert.equal(annotationFault(pool), undefined);
  });

  it('is reported in a bounded message, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 10_000 }), (value) => {
        const fault = annotationFault(annotated(value)) ?? '';
        return fault.length < 500;
      }),
    );
  });
});
