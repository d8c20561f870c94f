/** The manifests of a release: what kustomize makes of config, one file for each set of settings that has no values of one cluster. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { ensureBinaries } from '../controlplane/binaries.ts';
import { runOrThrow } from '../controlplane/command.ts';

const CONFIG = fileURLToPath(new URL('../../config', import.meta.url));
const TIMEOUT_MS = 60_000;

/** Each file: the resources in config, and the components. Settings with values of a cluster, such as an IAM role, need an overlay of one's own. */
const FILES: Readonly<
  Record<string, { readonly resources: readonly string[]; readonly components?: readonly string[] }>
> = {
  'install.yaml': { resources: ['default'] },
  'install-ha.yaml': { resources: ['ha'] },
  'crds.yaml': { resources: ['crd'] },
  'prometheus.yaml': { resources: ['prometheus'] },
  'dashboards.yaml': { resources: [], components: ['grafana'] },
  'policies.yaml': { resources: ['policies'] },
  'policies-deny.yaml': { resources: ['policies'], components: ['policies/deny'] },
  'runtime-class-defaulting.yaml': { resources: ['policies/runtime-class-defaulting'] },
};

/** Writes the manifests into `folder`, with the image of the operator. `work` is a folder for files of its own. */
export async function writeManifests(
  folder: string,
  work: string,
  image: string,
  log: (line: string) => void,
): Promise<void> {
  const { kubectl } = await ensureBinaries(log);
  for (const [name, { resources, components = [] }] of Object.entries(FILES)) {
    const overlay = join(work, name);
    await mkdir(overlay, { recursive: true });
    const from = (path: string) => relative(overlay, join(CONFIG, path));
    const kustomization = { resources: resources.map(from), components: components.map(from) };
    await writeFile(join(overlay, 'kustomization.yaml'), stringify(kustomization));
    const text = await runOrThrow(kubectl, ['kustomize', overlay], TIMEOUT_MS);
    await writeFile(join(folder, name), withImage(text, image, name));
  }
}

/** A manifest with another image of the operator. Throws if one that installs it has none. */
export function withImage(manifest: string, image: string, name: string): string {
  const operator = /^(\s+(?:- )?image: )\S*\bwindowspool-operator[:@]\S+$/gm;
  const replaced = manifest.replace(operator, `$1${image}`);
  if (name.startsWith('install') && replaced === manifest && !manifest.includes(image))
    throw new Error(
      `${name} has no image of the operator: compare config/manager/deployment.yaml with hack/release/manifests.ts.`,
    );
  return replaced;
}
