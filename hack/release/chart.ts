/** The chart's archive. Helm writes the time of the build into each of its files. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseDocument, stringify } from 'yaml';
import { runOrThrow } from '../controlplane/command.ts';
import { toolPath } from '../tools/tools.ts';
import { tarGz } from './archive.ts';
import type { Change } from './changelog.ts';
import { isPrerelease } from './versions.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NAME = 'windowspool-operator';
const TIMEOUT_MS = 60_000;

export interface ChartRelease {
  readonly version: string;
  /** The name of the image with its registry, without a tag. */
  readonly repository: string;
  readonly changes: readonly Change[];
}

/** Writes the archive of the chart into `folder`. `work` is a folder for files of its own. Returns the name of the archive. */
export async function writeChart(
  folder: string,
  work: string,
  release: ChartRelease,
  log: (line: string) => void,
): Promise<string> {
  const chart = join(work, NAME);
  await cp(join(ROOT, 'config/charts', NAME), chart, { recursive: true });
  const metadata = parseDocument(await readFile(join(chart, 'Chart.yaml'), 'utf8'));
  for (const field of ['version', 'appVersion'])
    if (metadata.get(field) !== release.version)
      throw new Error(
        `Chart.yaml has the ${field} ${metadata.get(field)}, and the release is ${release.version}. Run make set-version VERSION=${release.version}.`,
      );
  metadata.set('annotations', await artifactHubAnnotations(release));
  await writeFile(join(chart, 'Chart.yaml'), metadata.toString({ lineWidth: 0 }));
  const values = parseDocument(await readFile(join(chart, 'values.yaml'), 'utf8'));
  values.setIn(['image', 'repository'], release.repository);
  await writeFile(join(chart, 'values.yaml'), values.toString({ lineWidth: 0 }));

  const helm = await toolPath('helm', log);
  await runOrThrow(helm, ['package', chart, '--destination', work], TIMEOUT_MS);
  const archive = `${NAME}-${release.version}.tgz`;
  const packed = join(work, 'packed');
  await mkdir(packed);
  await runOrThrow('tar', ['-xzf', join(work, archive), '-C', packed], TIMEOUT_MS);
  await tarGz(join(folder, archive), packed);
  return archive;
}

/** https://artifacthub.io/docs/topics/annotations/helm/ */
async function artifactHubAnnotations({ version, repository, changes }: ChartRelease): Promise<Record<string, string>> {
  const { spec } = parse(await readFile(join(ROOT, 'crds/windowspools.yaml'), 'utf8'));
  const sample = parse(await readFile(join(ROOT, 'config/samples/windowspool.yaml'), 'utf8'));
  const homepage = parse(await readFile(join(ROOT, 'config/krew/windowspool.yaml'), 'utf8')).spec.homepage;
  const crd = {
    kind: spec.names.kind,
    version: spec.versions[0].name,
    name: `${spec.names.plural}.${spec.group}`,
    displayName: 'Pool of Windows nodes',
    description: 'A pool of Windows nodes that is provisioned, schedulable and verified.',
  };
  return {
    'artifacthub.io/category': 'integration-delivery',
    'artifacthub.io/changes': stringify(changes, { lineWidth: 0 }),
    'artifacthub.io/crds': stringify([crd], { lineWidth: 0 }),
    'artifacthub.io/crdsExamples': stringify([sample], { lineWidth: 0 }),
    'artifacthub.io/images': stringify([{ name: 'operator', image: `${repository}:${version}` }], { lineWidth: 0 }),
    'artifacthub.io/license': 'Apache-2.0',
    'artifacthub.io/links': stringify([{ name: 'source', url: homepage }]),
    'artifacthub.io/operator': 'true',
    'artifacthub.io/prerelease': String(isPrerelease(version)),
  };
}
