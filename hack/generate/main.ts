/** `make generate` writes the generated files. With --check (`make verify`), it fails if one is stale. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dashboards } from '../grafana/dashboards.ts';
import { argoCdFiles } from './argocd.ts';
import { chartFiles } from './chart.ts';
import { contributing } from './contributing.ts';
import { crdWithVersion } from './crdVersion.ts';
import { errorsPage } from './knownErrors.ts';
import { metricsPage } from './metrics.ts';
import { policyFiles } from './policies.ts';
import { conditionsPage } from './reasons.ts';
import { referencePage } from './reference.ts';
import { sizingPage } from './sizing.ts';
import { symptomsPage } from './symptoms.ts';
import { testedVersions } from './testedVersions.ts';
import { apiTypes } from './types.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const files: Readonly<Record<string, () => Promise<string> | string>> = {
  'CONTRIBUTING.md': contributing,
  // Before the chart, which has a copy.
  'crds/windowspools.yaml': crdWithVersion,
  'controllers/windowspool/api/api.gen.ts': apiTypes,
  'docs/reference/api.md': referencePage,
  'docs/reference/reasons.md': conditionsPage,
  'docs/reference/errors.md': errorsPage,
  'docs/reference/metrics.md': metricsPage,
  'docs/operate/sizing.md': sizingPage,
  'docs/operate/symptoms.md': symptomsPage,
  'docs/reference/versions.md': testedVersions,
  ...policyFiles(),
  ...chartFiles(),
  ...argoCdFiles(),
  ...Object.fromEntries(Object.entries(dashboards()).map(([name, text]) => [`config/grafana/${name}`, () => text])),
};

for (const [path, make] of Object.entries(files)) {
  const text = await make();
  const target = join(ROOT, path);
  const present = await readFile(target, 'utf8').catch(() => undefined);
  if (present === text) continue;
  if (process.argv.includes('--check')) {
    console.error(`${path} is stale: run \`make generate\` and commit the result.`);
    process.exitCode = 1;
    continue;
  }
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, text);
  console.log(`wrote ${path}`);
}
