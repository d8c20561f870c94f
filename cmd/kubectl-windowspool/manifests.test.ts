import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from './failure.ts';
import { objectsIn, readManifest } from './manifests.ts';

describe('a manifest', () => {
  const rows: readonly (readonly [what: string, text: string, objects: readonly object[]])[] = [
    ['several documents, with comments', '# a\n---\na: 1\n---\n---\nb: 2\n', [{ a: 1 }, { b: 2 }]],
    ['octal numbers', 'defaultMode: 0400\nanswer: "yes"', [{ defaultMode: 256, answer: 'yes' }]],
    ['anchors', 'a: &a {b: 1}\nc: {<<: *a}', [{ a: { b: 1 }, c: { b: 1 } }]],
    ['values that are no objects, which it leaves out', '--- [1]\n--- text\n--- 1\n', []],
    ['an empty text', '', []],
    [
      'a List',
      'kind: List\nitems: [{kind: Pod}, null, {kind: List, items: [{kind: Job}]}]',
      [{ kind: 'Pod' }, { kind: 'Job' }],
    ],
    [
      'a list of one kind, whose items have no kind in a response of the API server',
      '{"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}]}',
      [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }],
    ],
    ['a kind that only ends as a list does', 'kind: WaitingList\nspec: {}', [{ kind: 'WaitingList', spec: {} }]],
    ['JSON', ' {"a": [0.5, "b"]}', [{ a: [0.5, 'b'] }]],
    ['several objects of JSON', '{"a": 1}\n---\n{"b": 2}', [{ a: 1 }, { b: 2 }]],
  ];
  for (const [what, text, objects] of rows)
    it(`is read as kubectl does: ${what}`, () => assert.deepEqual(objectsIn(text, 'all.yaml'), objects));

  const bomb = [
    'a: &a [x, x, x, x, x, x, x, x, x]',
    ...[...'bcdef'].map((name, at) => {
      const alias = `*${'abcde'[at]}`;
      return `${name}: &${name} [${Array.from({ length: 9 }, () => alias).join(', ')}]`;
    }),
  ].join('\n');
  const broken: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    ['is not YAML', 'kind: [\n', / at line 2, column 1\.$/],
    ['has a key twice', 'a: 1\nb: {c: 1, c: 2}\n', /: key c .* at line 2\.$/],
    ['is a template', 'a: 1\nname: {{ .Release.Name }}\n', / at line 2\..* template, render it first\.$/],
    [
      'is a template that does not parse',
      '{{- if .Values.x }}\na: 1\n{{ end }}\n',
      / at line 1, column 3\..* template, render it first\.$/,
    ],
    ['expands without end', bomb, /: Excessive alias count /],
    ['is nested too deeply', '['.repeat(100_000), / at line 1, column \d+\.$/],
  ];
  for (const [what, text, message] of broken)
    it(`that ${what} is an error that names the file and the line`, () => {
      assert.throws(
        () => objectsIn(text, 'all.yaml'),
        (error: unknown) => {
          assert.ok(error instanceof Failure);
          assert.match(error.message, /^all\.yaml is not YAML: /);
          assert.match(error.message, message);
          return true;
        },
      );
    });

  it('of more than 64 MiB is not read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'windowspool-manifests-'));
    try {
      const file = join(folder, 'vast.yaml');
      writeFileSync(file, '');
      truncateSync(file, 64 * 1024 ** 2 + 1);
      await assert.rejects(
        readManifest(file),
        new Failure(`${file} is larger than 64 MiB. Split it into several files.`),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
