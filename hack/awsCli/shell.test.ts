import assert from 'node:assert/strict';
import { commandsIn } from './shell.ts';

describe('the commands in a script', () => {
  const words = (script: string) => commandsIn(script).map((command) => command.words.map(({ text }) => text));
  const table: readonly [what: string, script: string, commands: readonly (readonly string[])[]][] = [
    [
      'are separated by lines, pipes and operators',
      'a 1\nb | c; d && e || f',
      [['a', '1'], ['b'], ['c'], ['d'], ['e'], ['f']],
    ],
    ['continue after a backslash at the end of a line', 'a \\\n  --b c', [['a', '--b', 'c']]],
    ['keep quoted text as one word', `a 'b  "c"' "d 'e'" f\\ g`, [['a', 'b  "c"', "d 'e'", 'f g']]],
    ['keep a quoted line break', "a '{\n}'", [['a', '{\n}']]],
    ['keep an empty argument', 'a "" \'\'', [['a', '', '']]],
    [
      'can be inside substitutions',
      'a "$(b --c "d)")" e',
      [
        ['b', '--c', 'd)'],
        ['a', '$(...)', 'e'],
      ],
    ],
    [
      'can be inside nested substitutions',
      'X=$(a $(b c) d)',
      [
        ['b', 'c'],
        ['a', '$(...)', 'd'],
      ],
    ],
    [
      'follow keywords and variables',
      'for x in 1 2; do\n  Y=1 a $x\ndone',
      [['for', 'x', 'in', '1', '2'], ['a', '$x'], ['done']],
    ],
    ['have no comments', 'a b#c # d\n# e\nf', [['a', 'b#c'], ['f']]],
    ['have no redirections', 'a b > c 2>&1 d 2>/dev/null', [['a', 'b', 'd']]],
    ['are absent in an empty script', '\n \n', []],
  ];
  for (const [what, script, commands] of table) it(what, () => assert.deepEqual(words(script), commands));

  it('have the line of their first word', () => {
    const lines = commandsIn('a \\\n b\n\nc "$(\nd)"', 10).map(({ line, words: [first] }) => [first?.text, line]);
    assert.deepEqual(lines, [
      ['a', 10],
      ['d', 14],
      ['c', 13],
    ]);
  });

  it('have a mark on words that the shell expands', () => {
    const [command] = commandsIn(`a '$B' "$B" \${B##*/} $(b) $ "\\$B" c`).slice(-1);
    assert.deepEqual(
      command?.words.map(({ expanded }) => expanded),
      [false, false, true, true, true, false, false, false],
    );
  });
});
