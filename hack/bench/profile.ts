/**
 * `make profile SECTION=noise`: runs a section of `make bench`, and writes a flame graph of the operator to build/profile/SECTION, which opens in a browser. The operator
 * is slower while it is profiled, so the figures are not kept.
 */
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROFILE_FOLDER } from './profiling.ts';
import { print } from './report.ts';
import { Bench } from './section.ts';
import { sections } from './sections.ts';

const BUILD = fileURLToPath(new URL('../../build/profile/', import.meta.url));
/** Its app shows profiles of Node.js as flame graphs, from a file and without a server. */
const SPEEDSCOPE = join(dirname(fileURLToPath(import.meta.resolve('speedscope/package.json'))), 'dist/release');

/** speedscope loads a script by its absolute path. */
const OPEN = `<!doctype html>
<meta charset="utf-8">
<title>Flame graph</title>
<script>
  const profile = decodeURI(location.pathname.replace(/[^/]*$/, 'profile.js'));
  location.replace('speedscope/index.html#localProfilePath=' + profile);
</script>
`;

const [name = ''] = process.argv.slice(2);
const section = sections.find((each) => each.name === name);
if (!section) {
  console.error(`SECTION is "${name}". Set it to one of ${sections.map((each) => each.name).join(', ')}.`);
  process.exit(2);
}

const folder = join(BUILD, name);
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
process.env[PROFILE_FOLDER] = folder;
const bench = new Bench((line) => console.log(line), new AbortController().signal, 'full');
try {
  await section.prepare?.(bench);
  print(name, await section.run(bench));
} finally {
  await bench.stop();
}

const profiles = (await readdir(folder)).filter((file) => file.endsWith('.cpuprofile'));
const sizes = await Promise.all(profiles.map(async (file) => (await stat(join(folder, file))).size));
const largest = profiles[sizes.indexOf(Math.max(...sizes))];
if (largest === undefined) throw new Error(`No process of the operator wrote a profile in section ${name}.`);
const content = (await readFile(join(folder, largest))).toString('base64');
await writeFile(join(folder, 'profile.js'), `speedscope.loadFileFromBase64(${JSON.stringify(largest)}, "${content}")`);
await cp(SPEEDSCOPE, join(folder, 'speedscope'), { recursive: true });
await writeFile(join(folder, 'index.html'), OPEN);
console.log(`Open ${join(folder, 'index.html')}. It shows the longest of ${profiles.length} profiles.`);
