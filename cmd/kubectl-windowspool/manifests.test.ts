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
  const broken: readonly (readonly [what: string, text: string, message: string])[] = [
    [
      'is not YAML',
      'kind: [\n',
      'all.yaml is not YAML: Flow sequence in block collection must be sufficiently indented and end with a ] at line 2, column 1.',
    ],
    ['has a key twice', 'a: 1\nb: {c: 1, c: 2}\n', 'all.yaml is not YAML: key c exists twice at line 2.'],
    [
      'is a template',
      'a: 1\nname: {{ .Release.Name }}\n',
      'all.yaml is not YAML: a key is not text at line 2. If it is a template, render it first.',
    ],
    [
      'is a template that does not parse',
      '{{- if .Values.x }}\na: 1\n{{ end }}\n',
      'all.yaml is not YAML: Block collections are not allowed within flow collections at line 1, column 3. If it is a template, render it first.',
    ],
    [
      'expands without end',
      bomb,
      'all.yaml is not YAML: Excessive alias count indicates a resource exhaustion attack.',
    ],
    [
      'is nested too deeply',
      '['.repeat(100_000),
      'all.yaml is not YAML: Maximum call stack size exceeded at line 1, column N.',
    ],
  ];
  for (const [what, text, message] of broken)
    it(`that ${what} is an error that names the file and the line`, () => {
      assert.throws(
        () => objectsIn(text, 'all.yaml'),
        (error: unknown) => {
          assert.ok(error instanceof Failure);
          assert.equal(error.message.replace(/(?<=exceeded at line 1, column )\d+/, 'N'), message);
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
