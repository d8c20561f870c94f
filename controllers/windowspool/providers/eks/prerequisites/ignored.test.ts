import assert from 'node:assert/strict';
import fc from 'fast-check';
import { IGNORE_PREREQUISITES_ANNOTATION } from '../../../labels.ts';
import { adviceReasons, prerequisiteReasons } from '../../../reasons.ts';
import { samplePool, settings } from '../../../testing/fixtures.ts';
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
      'Annotation winpool.dev/ignore-prerequisites: unknown prerequisite NodeRoleShard (did you mean NodeRoleShared?). See https://docs.example/prerequisites.md for valid names.',
    ],
    [
      'noderoleshared',
      [],
      'Annotation winpool.dev/ignore-prerequisites: unknown prerequisite noderoleshared (did you mean NodeRoleShared?). See https://docs.example/prerequisites.md for valid names.',
    ],
    [
      'ClusterNotFound,ClusterMismatch',
      [],
      'Annotation winpool.dev/ignore-prerequisites: ClusterNotFound and ClusterMismatch cannot be ignored.',
    ],
    [
      'all,ClusterMismatch,true,yes,on',
      [],
      'Annotation winpool.dev/ignore-prerequisites: ClusterMismatch cannot be ignored; unknown prerequisites all, true, yes and 1 more. See https://docs.example/prerequisites.md for valid names.',
    ],
  ];
  for (const [value, ignored, fault] of rows) {
    it(`with the value ${JSON.stringify(value)} ${fault ? 'has an error' : 'is valid'}`, () => {
      assert.deepEqual([...ignoredPrerequisites(annotated(value))], ignored);
      assert.equal(annotationFault(annotated(value), settings), fault);
    });
  }

  it('ignores nothing if it is missing', () => {
    assert.deepEqual([...ignoredPrerequisites(samplePool())], []);
    assert.equal(annotationFault(samplePool(), settings), undefined);
  });

  it('can list every prerequisite and all advice', () => {
    const all = [...prerequisiteReasons, ...adviceReasons];
    const pool = annotated(all.join(', '));
    assert.deepEqual([...ignoredPrerequisites(pool)], all);
    assert.equal(annotationFault(pool, settings), undefined);
  });

  it('is reported in a message of bounded length', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 10_000 }), (value) => {
        const fault = annotationFault(annotated(value), settings) ?? '';
        return fault.length < 500;
      }),
    );
  });
});
