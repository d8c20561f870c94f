/** The software bill of materials of the bundle. */
import { runCommand } from '../controlplane/command.ts';
import type { BundledPackage } from '../licences.ts';

const TIMEOUT_MS = 60_000;

/** The parts of a CycloneDX document that are used here. https://cyclonedx.org/docs/1.5/json/ */
export interface Sbom {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly license?: { readonly id?: string }; readonly expression?: string }[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

/**
 * What `npm sbom` reports of these packages, and nothing of those that are not in the bundle. It has neither a time nor a serial number, so
 * the same lock file and sources give the same bytes. Throws if npm does not know one of the packages or its hash.
 */
export async function sbomOf(
  root: string,
  product: { readonly name: string; readonly version: string },
  packages: readonly BundledPackage[],
): Promise<Sbom> {
  // Not --omit=dev: npm 11.19 then also omits the packages that a development tool uses too, such as @aws-sdk/core.
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--loglevel=error'];
  const { stdout, stderr, code } = await runCommand('npm', args, { cwd: root, timeoutMs: TIMEOUT_MS });
  if (code !== 0) throw new Error(`npm ${args.join(' ')} ended with status ${code}: ${stderr.trim()}`);
  const { serialNumber, metadata, ...all } = JSON.parse(stdout);
  const { timestamp, ...made } = metadata;
  // npm takes the name from the folder of the checkout.
  const component = { ...made.component, name: product.name };
  return selected({ ...all, metadata: { ...made, component } }, packages);
}

function selected(all: Sbom, packages: readonly BundledPackage[]): Sbom {
  const key = ({ name, version }: { name: string; version: string }) => `${name}@${version}`;
  const known = new Map(all.components.map((component) => [key(component), component]));
  const components = [...new Set(packages.map(key))].sort().map((name) => {
    const component = known.get(name);
    if (!component?.hashes?.length)
      throw new Error(`npm sbom reports no hash of ${name}. Run make deps, and check package-lock.json.`);
    return component;
  });
  const refs = new Set([all.metadata.component, ...components].map((component) => component['bom-ref']));
  const dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }));
  return { ...all, components, dependencies };
}
