/**
 * Looks at the built site in Chromium: `node look.mjs URL FOLDER`. Fails if axe finds something serious on a page of pages.json, if a page
 * is wider than the window, or if the search does not find the answer to a question of questions.json in its first three results. Writes
 * a picture of each page in each size and theme to FOLDER.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const [, , site, folder] = process.argv;
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const read = async (name) => JSON.parse(await readFile(new URL(name, import.meta.url), 'utf8'));
const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 375, height: 812 } };
const SERIOUS = ['serious', 'critical'];
const RESULTS = 3;

const problems = [];
await mkdir(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'].concat(
    ['--disable-component-update', '--disable-sync'],
  ),
});
try {
  for (const [size, viewport] of Object.entries(SIZES))
    for (const colorScheme of ['light', 'dark']) {
      const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
      for (const path of await read('pages.json')) await look(await context.newPage(), path, `${size}-${colorScheme}`);
      await context.close();
    }
  const page = await browser.newPage();
  await page.goto(site);
  for (const { question, answers } of await read('questions.json')) await ask(page, question, answers);
} finally {
  await browser.close();
}
for (const problem of problems) console.error(problem);
console.log(`${problems.length} problems. The pictures are in ${folder}.`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function look(page, path, view) {
  const name = `${path.replaceAll('/', '-').replace(/-$/, '') || 'index'}-${view}`;
  page.on('pageerror', (error) => problems.push(`${name}: ${error.message}`));
  const response = await page.goto(new URL(path, site).href, { waitUntil: 'networkidle' });
  if (!response?.ok()) problems.push(`${name}: HTTP ${response?.status()}`);
  await page.screenshot({ path: `${folder}/${name}.png` });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) problems.push(`${name}: ${wide} pixels wider than the window`);
  await page.addScriptTag({ content: axe });
  const { violations } = await page.evaluate(() => window.axe.run());
  for (const { id, impact, help, nodes } of violations.filter((each) => SERIOUS.includes(each.impact)))
    problems.push(
      `${name}: ${impact} ${id}: ${help}: ${nodes
        .slice(0, 3)
        .map(({ html }) => html)
        .join(' ')}`,
    );
  await page.close();
}

async function ask(page, question, answers) {
  const found = await page.evaluate(
    async ([bundle, words, most]) => {
      const pagefind = await import(bundle);
      const { results } = await pagefind.search(words);
      return Promise.all(results.slice(0, most).map(async (result) => (await result.data()).url));
    },
    [new URL('pagefind/pagefind.js', site).href, question, RESULTS],
  );
  const paths = found.map((url) => new URL(url, site).href.slice(site.length).replace(/\/?(#.*)?$/, ''));
  if (!answers.some((answer) => paths.includes(answer)))
    problems.push(`search for "${question}": expected ${answers.join(' or ')}, found ${paths.join(', ') || 'nothing'}`);
}
