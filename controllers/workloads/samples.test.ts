import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { RUNTIME_CLASSES } from '../../test/workloads/build.ts';
import { findingsOf, rawPodSpecOf } from './lint.ts';

const SAMPLES = fileURLToPath(new URL('../../config/samples/', import.meta.url));

describe('the workloads in config/samples', () => {
  const workloads = globSync('**/*.yaml', { cwd: SAMPLES })
    .sort()
    .flatMap((path) =>
      parseAllDocuments(readFileSync(`${SAMPLES}${path}`, 'utf8'))
        .map((document) => document.toJS())
        .filter((manifest) => manifest?.kind !== undefined && rawPodSpecOf(manifest) !== undefined)
        .map((manifest) => ({ path, manifest })),
    );

  it('exist', () => assert.ok(workloads.length >= 4));

  for (const { path, manifest } of workloads)
    it(`${manifest.kind} ${manifest.metadata?.name} in ${path} violates no rule`, () => {
      assert.deepEqual(findingsOf(manifest, RUNTIME_CLASSES), []);
    });
});
