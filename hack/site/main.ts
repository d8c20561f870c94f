/**
 * The site of docs/. `node hack/site/main.ts build` writes it to build/docs, `serve` also serves it on PORT (4321), and `look` looks at it
 * in a browser. DOCS_BASE is its path on the host, by default `/`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, statSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { deadLinks } from './deadLinks.ts';
import { serveFolder } from './serveFolder.ts';
import { sidebarOf } from './sidebar.ts';
import { routeOf, sitePage } from './sitePage.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const APP = fileURLToPath(new URL('app/', import.meta.url));
/** Where the site is built: Astro needs its packages beside its sources. */
const WORK = join(ROOT, 'build/site');
const OUT = join(ROOT, 'build/docs');
const REPOSITORY = 'https://github.com/windowspool-operator/windowspool-operator';

const [command = 'build'] = process.argv.slice(2);
const base = (process.env.DOCS_BASE ?? '/').replace(/\/?$/, '/');
const version = `v${manifest.version}`;

await build();
if (command !== 'build') {
  const server = await serveFolder(OUT, base, Number(process.env.PORT ?? (command === 'serve' ? 4321 : 0)));
  console.log(`The documentation is on ${server.url}`);
  if (command === 'look') {
    process.exitCode = await exitOf('node', ['look.mjs', server.url, join(ROOT, 'build/docs-look')], WORK);
    await server.close();
  }
}

async function build(): Promise<void> {
  await prepare();
  await rm(OUT, { recursive: true, force: true });
  await run(join(WORK, 'node_modules/.bin/astro'), ['build', '--silent'], WORK);
  await writeFile(join(OUT, 'versions.json'), `${JSON.stringify([{ version, path: '' }])}\n`);
  const files = globSync('**/*', { cwd: OUT, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(OUT.length + 1));
  const html = new Map<string, string>();
  for (const file of files.filter((each) => each.endsWith('.html')))
    html.set(file, await readFile(join(OUT, file), 'utf8'));
  const dead = deadLinks(html, new Set(files), base);
  if (dead.length > 0) throw new Error(`Dead links:\n${dead.join('\n')}`);
  console.log(`build/docs has ${html.size} pages, and no dead link.`);
}

/** The app with its packages and pages in the folder where it is built. */
async function prepare(): Promise<void> {
  for (const part of ['src', 'public']) await rm(join(WORK, part), { recursive: true, force: true });
  await cp(APP, WORK, { recursive: true });
  const lock = await readFile(join(APP, 'package-lock.json'), 'utf8');
  const stamp = join(WORK, 'installed.json');
  if (!existsSync(stamp) || (await readFile(stamp, 'utf8')) !== lock) {
    await run('npm', ['ci', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'], WORK);
    await writeFile(stamp, lock);
  }
  const isFolder = (path: string) => statSync(join(ROOT, path)).isDirectory();
  const pages = globSync('docs/**/*.md', { cwd: ROOT }).sort();
  for (const path of pages) {
    const text = sitePage(path, await readFile(join(ROOT, path), 'utf8'), {
      base,
      repository: REPOSITORY,
      ref: 'main',
      isFolder,
    });
    const target = join(WORK, 'src/content/docs', `${routeOf(path) || 'index'}.md`);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
  // Versions are in folders beside each other: /v1.2.3/ belongs to the site at /.
  const root = base.replace(/v[\d.]+\/$/, '');
  const site = { base, root, version, repository: REPOSITORY, sidebar: sidebarOf(pages) };
  await writeFile(join(WORK, 'site.json'), `${JSON.stringify(site, undefined, 2)}\n`);
}

async function run(program: string, args: readonly string[], cwd: string): Promise<void> {
  const code = await exitOf(program, args, cwd);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} exited with ${code}.`);
}

async function exitOf(program: string, args: readonly string[], cwd: string): Promise<number> {
  const child = spawn(program, args, { cwd, stdio: 'inherit', env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' } });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}
