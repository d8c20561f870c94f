import assert from 'node:assert/strict';
import { KubernetesError } from '../../controllers/kubernetes/kubernetesError.ts';
import { assertGolden } from '../../test/goldenText.ts';
import { explain, Failure, suggestion } from './failure.ts';
import { age, type Column, colored, plain, printable, table, wrap } from './text.ts';

describe('a table', () => {
  type Row = readonly [name: string, state: string, more: string];
  const columns: readonly Column<Row>[] = [
    { header: 'NAME', cut: true, value: ([name]) => name },
    { header: 'STATE', value: ([, state]) => state },
    { header: 'MORE', wide: true, value: ([, , more]) => more },
  ];
  const rows: readonly Row[] = [
    ['a-very-long-name', 'on', 'all\nof it'],
    ['b', 'off', ''],
  ];
  it('cuts only columns that may be cut, to the width of the terminal', () => {
    assert.deepEqual(table(columns, rows, 18), ['NAME         STATE', 'a-very-lon…  on', 'b            off']);
  });
  it('cuts nothing and wraps nothing when it is wide', () => {
    assert.deepEqual(table(columns, rows, Number.POSITIVE_INFINITY), [
      'NAME              STATE  MORE',
      'a-very-long-name  on     all of it',
      'b                 off',
    ]);
  });
  it('aligns colored values', () => {
    const [, first = ''] = table(columns, [[colored('good', 'x'), 'y', '']], 80);
    assert.equal(first, '\x1b[32mx\x1b[39m     y');
  });
});

describe('what a terminal gets', () => {
  const evil = '\x1b]0;title\x07\x1b[2J\x1b[31mred\x9b3J\rover\x7f\u202etxt';
  it('has no control characters of names and messages', () => {
    assert.equal(printable(`a\n\tb ${evil}`, plain), 'a\n\tb ]0;title[2J[31mred3Jovertxt');
  });
  it('has the colors of the plugin', () => {
    const text = `${colored('bad', 'no')} \x1b[2J${colored('title', 'yes')}`;
    assert.equal(printable(text, colored), '\x1b[31mno\x1b[39m [2J\x1b[1myes\x1b[22m');
  });
});

it('wrap breaks lines between words, and never within one', () => {
  assert.deepEqual(wrap('one two https://a.very.long/address three', 10, '  '), [
    '  one two',
    '  https://a.very.long/address',
    '  three',
  ]);
  assert.deepEqual(wrap(' ', 10), []);
});

it('age uses the largest unit of which there are two', () => {
  const ages = [0, 1_000, 119_000, 120_000, 7_199_000, 7_200_000, 172_800_000].map((ms) => age(0, ms));
  assert.deepEqual(ages, ['0s', '1s', '119s', '2m', '119m', '2h', '2d']);
});

describe('an error', () => {
  const rows: readonly (readonly [what: string, error: unknown])[] = [
    [
      'of a user without permissions',
      new KubernetesError(
        'windowspools.winpool.dev is forbidden: User "eve" cannot list resource "windowspools" in API group "winpool.dev" at the cluster scope',
        { status: 403, reason: 'Forbidden' },
      ),
    ],
    [
      'of a cluster that cannot be reached',
      new KubernetesError('no response from https://a:1: connect ECONNREFUSED', { reason: 'ECONNREFUSED' }),
    ],
    ['of a time-out', new DOMException('aborted', 'TimeoutError')],
    ['of expired credentials', new KubernetesError('Unauthorized', { status: 401, reason: 'Unauthorized' })],
    [
      'of a login',
      new KubernetesError('no credentials for https://a:1: spawn aws ENOENT', { reason: 'NoCredentials' }),
    ],
    ['of the plugin', new Failure('No.')],
    ['of the API server', new KubernetesError('it is invalid', { status: 422, reason: 'Invalid' })],
  ];
  it('names the cause and the next step', async () => {
    const texts = rows.map(([what, error]) => `# ${what}\n${explain(error)}`);
    await assertGolden('plugin/errors', `${texts.join('\n\n')}\n`);
  });
});

it('a name is suggested only if it is similar', () => {
  assert.equal(suggestion('wbe', ['billing', 'web']), ' Did you mean "web"?');
  assert.equal(suggestion('wbb', ['billing', 'wxa']), '');
  assert.equal(suggestion('bilings', ['billing', 'web']), ' Did you mean "billing"?');
  assert.equal(suggestion('weg', ['billing', 'web']), ' Did you mean "web"?');
  assert.equal(suggestion('x', []), '');
});
