/**
 * Texts that users read may change at any time. Tests assert what identifies a text, and its arguments; the whole texts are in golden files, a page
 * for each subject.
 */
import assert from 'node:assert/strict';
import { assertGolden } from '../../../test/goldenText.ts';

/** What identifies a text, such as `False WaitingForBudget`, and the names, numbers and commands that its sentences contain. */
export type Brief = readonly [identity: string, ...args: string[]];

/** The brief of a text of the form `identity: sentences`. An argument that it should have and does not have is replaced with an explanation. */
export function briefOf(text: string, want: Brief | undefined): Brief {
  if (!want) return [text];
  const sentences = sentencesOf(text);
  const identity = sentences === '' ? text : text.slice(0, text.indexOf(': '));
  const [, ...args] = want;
  return [identity, ...args.map((arg) => (sentences.includes(arg) ? arg : `no "${arg}" in: ${sentences}`))];
}

/** Computes the texts of a row. */
type Texts = () => readonly string[] | Promise<readonly string[]>;

/** What follows the identity; empty for a text that is only an identity. */
export function sentencesOf(text: string): string {
  const end = text.indexOf(': ');
  return end < 0 ? '' : text.slice(end + 2);
}

/** Compares texts with what identifies them, in this order. */
export function assertBriefs(texts: readonly string[], want: readonly Brief[]): void {
  assert.deepEqual(
    texts.map((text, i) => briefOf(text, want[i])),
    want,
  );
}

/** The same for one text. */
export function assertBrief(text: string | undefined, ...want: Brief): void {
  assertBriefs(text === undefined ? [] : [text], [want]);
}

/** Asserts that a text has these names, numbers and commands. */
export function assertMentions(text: string | undefined, ...args: readonly string[]): void {
  const missing = args.filter((arg) => !text?.includes(arg));
  assert.deepEqual(missing, [], `not in: ${text}`);
}

/**
 * Defines a test that compares the texts of all rows with the page test/golden/texts/NAME.txt. Call it at the top of a file of tests, and the returned
 * function for the test of each row. A row without texts is not on the page.
 */
export function goldenTexts(name: string): (row: Mocha.Test, texts: Texts) => void {
  const rows: (readonly [Mocha.Test, Texts])[] = [];
  it(`the texts are those in test/golden/texts/${name}.txt`, async () => {
    const page: string[] = [];
    for (const [row, textsOf] of rows) {
      const texts = (await textsOf()).map((text) => `  ${text.replaceAll('\n', '\n  ')}`);
      if (texts.length > 0) page.push([row.titlePath().join(': '), ...texts].join('\n'));
    }
    await assertGolden(`texts/${name}`, `${page.join('\n\n')}\n`);
  });
  return (row, texts) => rows.push([row, texts]);
}

/** A function that defines the test of a row, which asserts what identifies its texts, and adds the row to a page as `goldenTexts` does. */
export function textTable(name: string): (title: string, texts: Texts, want: readonly Brief[]) => void {
  const golden = goldenTexts(name);
  return (title, textsOf, want) => {
    const texts = once(textsOf);
    golden(
      it(title, async () => assertBriefs(await texts(), want)),
      texts,
    );
  };
}

/** A function that computes its value at the first call: for the test of a row and for its page. */
export function once<T>(compute: () => T): () => T {
  let computed: { readonly value: T } | undefined;
  return () => {
    computed ??= { value: compute() };
    return computed.value;
  };
}
