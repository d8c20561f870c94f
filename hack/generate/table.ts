/**
 * A page with the generated table between the comments `<!-- NAME: ... -->` and `<!-- end of NAME -->`; the rest of the page is unchanged. The first row is the
 * header. Throws an error that names `path` if the comments are missing.
 */
export function withTable(path: string, page: string, name: string, rows: readonly (readonly string[])[]): string {
  const section = new RegExp(`(<!-- ${name}: .*-->\n)[\\s\\S]*?(<!-- end of ${name} -->)`);
  if (!section.test(page)) throw new Error(`${path}: the comments around the table of ${name} are missing.`);
  const [header = [], ...body] = rows;
  const lines = [header, header.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |\n`);
  return page.replace(section, (_, begin, end) => `${begin}${lines.join('')}${end}`);
}

/** A row of a table in Markdown. A `|` in a cell is escaped. */
export function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
