/** The label of the CRD with its release, which the operator and the kubectl plugin compare with their own. */
import { readFile } from 'node:fs/promises';
import manifest from '../../package.json' with { type: 'json' };

const PATH = 'crds/windowspools.yaml';

/** The CRD with the version in package.json. The rest of the file is unchanged. */
export async function crdWithVersion(): Promise<string> {
  const crd = await readFile(new URL(`../../${PATH}`, import.meta.url), 'utf8');
  const label = /^( {4}app\.kubernetes\.io\/version: ).*$/m;
  if (!label.test(crd)) throw new Error(`${PATH}: the label app.kubernetes.io/version is missing.`);
  return crd.replace(label, `$1${manifest.version}`);
}
