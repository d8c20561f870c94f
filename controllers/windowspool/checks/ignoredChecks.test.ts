import assert from 'node:assert/strict';
import fc from 'fast-check';
import { IGNORE_PREREQUISITES_ANNOTATION } from '../api/labels.ts';
import { checkReasons } from '../api/reasons.ts';
import { samplePool, settings } from '../testing/fixtures.ts';
import { textTable } from '../testing/goldenTexts.ts';
import { annotationFault, ignoredChecks } from './ignoredChecks.ts';

const check = textTable('ignoredChecks');

const annotated = (value: string) =>
  samplePool({}, { metadata: { annotations: { [IGNORE_PREREQUISITES_ANNOTATION]: value } } });

describe('the annotation winpool.dev/ignore-prerequisites', () => {
  const rows: readonly (readonly [value: string, ignored: readonly string[], args: readonly string[] | undefined])[] = [
    ['', [], undefined],
    [' , ,', [], undefined],
    ['NodeRoleShared', ['NodeRoleShared'], undefined],
    [' TooFewAddresses , NodeRoleShared,NodeRoleShared', ['TooFewAddresses', 'NodeRoleShared'], undefined],
    [
      'NodeRoleShard,NoLinuxNode',
      ['NoLinuxNode'],
      ['winpool.dev/ignore-prerequisites', 'NodeRoleShard', 'NodeRoleShared', 'checks.md'],
    ],
    ['noderoleshared', [], ['winpool.dev/ignore-prerequisites', 'NodeRoleShared', 'checks.md']],
    ['ClusterNotFound,ClusterMismatch', [], ['winpool.dev/ignore-prerequisites', 'ClusterNotFound', 'ClusterMismatch']],
    [
      'all,ClusterMismatch,true,yes,on',
      [],
      ['winpool.dev/ignore-prerequisites', 'ClusterMismatch', '1 more', 'checks.md'],
    ],
  ];
  for (const [value, ignored, args] of rows) {
    const texts = () => {
      assert.deepEqual([...ignoredChecks(annotated(value))], ignored);
      const fault = annotationFault(annotated(value), settings);
      return fault === undefined ? [] : [`fault: ${fault}`];
    };
    const title = `with the value ${JSON.stringify(value)} ${args ? 'has an error' : 'is valid'}`;
    check(title, texts, args ? [['fault', ...args]] : []);
  }

  it('ignores nothing if it is missing', () => {
    assert.deepEqual([...ignoredChecks(samplePool())], []);
    assert.equal(annotationFault(samplePool(), settings), undefined);
  });

  it('can list every prerequisite and all advice', () => {
    const all = checkReasons;
    const pool = annotated(all.join(', '));
    assert.deepEqual([...ignoredChecks(pool)], [...all]);
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
