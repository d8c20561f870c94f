/** The health check of config/argocd in the layout of Argo CD's repository, so that it can be contributed there. */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { CONTRIBUTED_POOLS, CONTRIBUTION } from '../../test/gitops/contribution.ts';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFile(new URL(path, ROOT), 'utf8');

/** The generated files, by path. Its health_test.yaml is a golden file of test/gitops, because Argo CD evaluates the script. */
export function argoCdFiles(): Record<string, () => Promise<string>> {
  const pools = CONTRIBUTED_POOLS.map(
    (name) => [`${CONTRIBUTION}/testdata/${name}.yaml`, () => read(`test/golden/pools/${name}.yaml`)] as const,
  );
  return { [`${CONTRIBUTION}/health.lua`]: script, ...Object.fromEntries(pools) };
}

async function script(): Promise<string> {
  const { data } = parse(await read('config/argocd/argocd-cm.yaml'));
  return data['resource.customizations.health.winpool.dev_WindowsPool'];
}
