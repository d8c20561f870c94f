/** `sbom` writes the bills of materials of the image, `check` checks licences and advisories. */
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledPackages } from '../bundle.ts';
import { licenceFindings } from '../licences.ts';
import { readAdvisories } from './advisories.ts';
import { writeImageSboms } from './imageSboms.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OPERATOR = 'cmd/operator/main.ts';

const commands: Readonly<Record<string, () => Promise<void>>> = {
  sbom: async () => {
    for (const { path, packages } of await writeImageSboms(join(ROOT, 'build/sbom')))
      console.log(`${relative(ROOT, path)}: ${packages} packages`);
  },
  check: async () => {
    const packages = await bundledPackages(OPERATOR);
    const advisories = await readAdvisories(ROOT, packages);
    if (!advisories.read) console.log(`The advisories of packages were not read: ${advisories.reason}`);
    const findings = [...licenceFindings(packages), ...(advisories.read ? advisories.findings : [])];
    if (findings.length > 0) throw new Error(findings.join('\n'));
  },
};

const name = process.argv[2] ?? '';
const command = commands[name];
try {
  if (!command)
    throw new Error(`There is no command ${JSON.stringify(name)}. Use one of: ${Object.keys(commands).join(', ')}.`);
  await command();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
