import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { createParser, syntaxOf } from '../../controllers/kubernetes/powershellGrammar.ts';
import { normalized } from '../goldenText.ts';
import { anchorsOf, blocksOf, linksOf, namesOf, pathsOf } from './markdown.ts';
import { unknownNames } from './names.ts';
import { pages, ROOT, read } from './pages.ts';

/** Pages about the fields of other tools, and about former names. */
const NAMES_OF_OTHERS = ['docs/reference/api.md', 'docs/reference/names.md', 'hack/generate/apiStability.md'];

describe('every page', () => {
  for (const page of pages) {
    it(`${page} links and refers only to what exists`, () => {
      const text = read(page);
      const missing = linksOf(text).filter((link) => {
        const [file = '', anchor] = link.split('#');
        const target = file === '' ? page : join(dirname(page), file);
        if (!existsSync(join(ROOT, target))) return true;
        return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
      });
      // node_modules and build exist only after make has created them.
      const unknownPaths = pathsOf(text).filter((path) => !existsSync(join(ROOT, path)));
      assert.deepEqual([...missing, ...unknownPaths], []);
    });
  }

  for (const page of pages.filter((each) => !NAMES_OF_OTHERS.includes(each)))
    it(`${page} names only fields and metrics that exist`, () => {
      assert.deepEqual(unknownNames(namesOf(read(page))), []);
    });

  it('would not name a field or a metric that does not exist', () => {
    const wrong = ['nodeGroup.size', 'spec.scaling.min', 'status.nodeGroup.wanted: 1', 'windowspool_size'];
    const right = ['nodeGroup.scaling.minSize', 'scaling.minSize', 'status.nodeGroup.update.id', 'windowspool_nodes'];
    assert.deepEqual(unknownNames([...wrong, ...right]), wrong);
  });

  it('contains only PowerShell in which the operator would find no error', async () => {
    const parser = await createParser();
    const blocks = pages.flatMap((page) => blocksOf(read(page)).filter(({ info }) => info === 'powershell'));
    assert.ok(blocks.length > 4);
    for (const { text } of blocks) assert.deepEqual(syntaxOf(parser, text), {}, text);
  });

  it('pipes nothing into a program that stops reading early, which fails at random in a shell with pipefail', () => {
    const stopped = pages.flatMap((page) =>
      blocksOf(read(page))
        .filter(({ info, text }) => info.startsWith('sh') && /\| *(head|grep (-\w*q|-m)|sed \S*q)\b/.test(text))
        .map(({ line }) => `${page}:${line}`),
    );
    assert.deepEqual(stopped, []);
  });
});

it('every page can be reached from README', () => {
  const reached = new Set(['README.md']);
  for (const page of reached)
    for (const link of linksOf(read(page))) {
      const target = join(dirname(page), link.split('#')[0] ?? '');
      if (pages.includes(target)) reached.add(target);
    }
  assert.deepEqual(
    pages.filter((page) => !reached.has(page)),
    [],
  );
});

describe('what README shows', () => {
  const shown = (info: string) => blocksOf(read('README.md')).filter((block) => block.info === info);

  it('the pool is the one in config/samples', () => {
    assert.deepEqual(parse(shown('yaml')[0]?.text ?? ''), parse(read('config/samples/windowspool.yaml')));
  });

  it('the pod is the one in config/samples', () => {
    const [deployment] = parseAllDocuments(read('config/samples/deployment.yaml')).map((document) => document.toJS());
    assert.partialDeepStrictEqual(deployment.spec.template, parse(shown('yaml')[1]?.text ?? ''));
  });

  it('the output of kubectl is the real output', () => {
    const golden = read('test/golden/healthy.txt');
    for (const { text } of shown('')) assert.ok(golden.includes(normalized(text)), text);
  });
});
