import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

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
  it('uses only instructions that are tested here', () => {
    const words = new Set(instructions().map(({ word }) => word));
    assert.deepEqual([...words].sort(), ['COPY', 'ENTRYPOINT', 'ENV', 'FROM', 'RUN', 'USER', 'WORKDIR']);
  });

  it('builds on the version of Node that the tests run on, by its exact tag', () => {
    const image = `node:${manifest.devDependencies.node}-slim`;
    // A digest is added at a release. That it exists can only be tested where a registry answers.
    const [built = '', shipped = ''] = all('FROM');
    assert.match(shipped.slice(image.length), /^(@sha256:[0-9a-f]{64})?$/);
    assert.deepEqual([shipped.split('@')[0], built, all('FROM').length], [image, `${shipped} AS build`, 2]);
  });

  it('copies only files that exist and that .dockerignore includes', () => {
    const copied = all('COPY')
      .filter((rest) => !rest.startsWith('--from'))
      .flatMap((rest) => rest.split(' ').slice(0, -1));
    assert.notEqual(copied.length, 0);
    const letThrough = [...read('.dockerignore').matchAll(/^!(.*)$/gm)].map(([, name]) => name);
    assert.deepEqual([...copied].sort(), [...letThrough].sort());
    for (const name of copied) assert.ok(existsSync(join(ROOT, name)), `${name} is not there`);
  });

  it('ships only the bundle, and runs it as the user in the Deployment', () => {
    const shipped = instructions().slice(instructions().findLastIndex(({ word }) => word === 'FROM') + 1);
    assert.deepEqual(
      shipped.filter(({ word }) => word === 'COPY' || word === 'RUN').map(({ rest }) => rest),
      ['--from=build /src/build/operator /app'],
    );
    assert.deepEqual(all('USER'), ['65532:65532']);
    const deployment = read('config/manager/deployment.yaml');
    assert.match(deployment, /runAsUser: 65532\n *runAsGroup: 65532\n/);
    const [entry] = all('ENTRYPOINT');
    assert.equal(JSON.parse(entry ?? '[]').at(-1), '/app/operator.mjs');
  });

  it('contains no path of the machine that builds it', () => {
    assert.doesNotMatch(read('Dockerfile'), /\/(root|home|tmp|Users)\b/);
  });
});
