import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { problemsOf } from './check.ts';
import { awsCommandsOf } from './commands.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PLACES = ['**/*.md', '{cmd,controllers}/**/*.ts', '{config,crds}/**/*.yaml'];

const texts = (file: string, text: string) =>
  awsCommandsOf(file, text).map(({ line, words }) => `${line} ${words.map((word) => word.text).join(' ')}`);

describe('the AWS commands of a file', () => {
  it('are in the shell blocks of a page, with their lines', () => {
    const page = '# Page\n\n```sh aws\nkubectl get nodes\naws eks a \\\n  --b c\n```\n\n```yaml\naws eks d --e\n```\n';
    assert.deepEqual(texts('page.md', page), ['5 eks a --b c']);
  });

  it('are in the sentences of a page', () => {
    const page = 'One\n\nUse `aws eks a --b "$C"`, or `aws ec2 d`.\nSay aws is slow, aws eks.\n';
    assert.deepEqual(texts('page.md', page), ['3 eks a --b $C', '3 ec2 d']);
  });

  it('are in the strings of a source file, with interpolated values', () => {
    const source = ['const x =', `  \`Run aws eks a --b $${'{name(c)}'} \` +`, "  '--d e. Then wait.';", ''].join('\n');
    assert.deepEqual(texts('file.ts', source), ['2 eks a --b $VALUE --d e']);
  });

  it('are inside substitutions and after operators and variables, with a mark on words that the shell expands', () => {
    const script = `X=$(aws a '$B' "$B" \\\n  \${B##*/} "\\$B" && Y=1 aws b "$(aws c)" > d # aws e\n)`;
    const found = awsCommandsOf('a.md', `\`\`\`sh\n${script}\n\`\`\``);
    assert.deepEqual(
      found.map(({ line, words }) => [line, words.map(({ text, expanded }) => (expanded ? '*' : text))]),
      [
        [2, ['a', '$B', '*', '*', '$B']],
        [3, ['b', '*']],
        [3, ['c']],
      ],
    );
  });

  it('are in any other text until the sentence ends', () => {
    assert.deepEqual(texts('file.yaml', 'description: aws eks a --b c, then wait'), ['1 eks a --b c']);
  });
});

describe('every command of the AWS CLI in pages, messages and configuration', () => {
  const files = PLACES.flatMap((pattern) => globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules', 'build'] }))
    .filter((file) => !file.endsWith('.test.ts'))
    .sort();
  const found = files.flatMap((file) =>
    awsCommandsOf(file, readFileSync(join(ROOT, file), 'utf8')).map(({ line, words }) => ({ file, line, words })),
  );

  it('exists, has only valid flags, and has all required ones', () => {
    assert.deepEqual(
      found.flatMap(({ file, line, words }) => problemsOf(words).map((problem) => `${file}:${line}: ${problem}`)),
      [],
    );
  });

  it('is found in the known places', () => {
    for (const file of [
      'docs/tutorials/first-pool.md',
      'docs/how-to/uninstall.md',
      'controllers/windowspool/disruption/provisioners.ts',
    ])
      assert.ok(
        found.some((command) => command.file === file),
        file,
      );
  });
});
