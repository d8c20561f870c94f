import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ARCHITECTURES } from '../../hack/image/pins.ts';
import { imageSettings } from '../../hack/shipped.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The instructions of a Dockerfile, with continued lines joined and without comments. */
function instructions(): { readonly word: string; readonly rest: string }[] {
  return read('Dockerfile')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ word: line.split(' ')[0] ?? '', rest: line.split(' ').slice(1).join(' ') }));
}

const all = (word: string) => instructions().flatMap((line) => (line.word === word ? [line.rest] : []));

describe('the Dockerfile', () => {
  it('uses only instructions that make image understands', () => {
    const words = new Set(instructions().map(({ word }) => word));
    assert.deepEqual([...words].sort(), ['ARG', 'COPY', 'ENTRYPOINT', 'ENV', 'FROM', 'LABEL', 'USER']);
    assert.deepEqual(all('FROM'), ['scratch']);
    assert.equal(imageSettings().layers.length, all('COPY').length);
  });

  it('copies only folders that .dockerignore includes', () => {
    const copied = imageSettings().layers.flatMap((path) =>
      ARCHITECTURES.map((architecture) => path.replace('$TARGETARCH', architecture).split('/')[0]),
    );
    const letThrough = [...read('.dockerignore').matchAll(/^!build\/image\/(.*)$/gm)].map(([, name]) => name);
    assert.deepEqual([...new Set(copied)].sort(), [...letThrough].sort());
  });

  it('runs the bundle as a user whose ID is a number, as runAsNonRoot requires', () => {
    assert.deepEqual(all('USER'), ['65532:65532']);
    const deployment = read('config/manager/deployment.yaml');
    assert.match(deployment, /runAsNonRoot: true/);
    assert.doesNotMatch(deployment, /runAsUser|runAsGroup|fsGroup/);
    assert.equal(imageSettings().entrypoint.at(-1), '/app/operator.mjs');
  });

  it('contains no path of the machine that builds it', () => {
    assert.doesNotMatch(read('Dockerfile'), /\/(root|tmp|Users)\b/);
  });
});
