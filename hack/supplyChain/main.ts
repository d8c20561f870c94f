/** `sbom` writes the bill of materials, `check` checks licences and advisories. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { bundledPackages } from '../bundle.ts';
import { licenceFindings } from '../licences.ts';
import { readAdvisories } from './advisories.ts';
import { sbomOf } from './sbom.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OPERATOR = 'cmd/operator/main.ts';

const commands: Readonly<Record<string, () => Promise<void>>> = {
  sbom: async () => {
    const sbom = await sbomOf(ROOT, manifest, await bundledPackages(OPERATOR));
    await mkdir(join(ROOT, 'build'), { recursive: true });
    await writeFile(join(ROOT, 'build/sbom.json'), `${JSON.stringify(sbom, null, 2)}\n`);
    console.log(`build/sbom.json: ${sbom.components.length} packages, CycloneDX ${sbom.specVersion}`);
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
