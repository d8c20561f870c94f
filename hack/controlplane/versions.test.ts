import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { API_SERVER } from '../../controllers/kubernetes/apiServerVersion.ts';
import { readGoMod } from '../gobuild/build.ts';
import { chosenSeries, controlPlaneModule, olderModule } from './binaries.ts';

const { minimum, oldestTested, newestTested } = API_SERVER;
const text = (path: string) => readFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

describe('the versions of Kubernetes that the operator supports', () => {
  it('are those of the local control planes: the newest is the default, the oldest is built on demand', async () => {
    assert.deepEqual([chosenSeries(''), chosenSeries(oldestTested)], [newestTested, oldestTested]);
    const built = await Promise.all([controlPlaneModule, olderModule].map(readGoMod));
    assert.deepEqual(
      built.map(({ versionOf }) => versionOf('k8s.io/kubernetes').split('.').slice(0, 2).join('.')),
      [`v${newestTested}`, `v${oldestTested}`],
    );
  });

  it('are the only ones that KUBERNETES accepts', () => {
    assert.throws(() => chosenSeries('1.30'), { message: 'KUBERNETES=1.30: must be one of 1.36, 1.34.' });
  });

  it('are named by the documentation and the chart, with the Go that builds them', async () => {
    assert.match(
      await text('config/charts/windowspool-operator/Chart.yaml'),
      new RegExp(`^kubeVersion: '>=${minimum}.0-0'$`, 'm'),
    );
    for (const page of ['README.md', 'docs/how-to/install.md'])
      assert.match(
        await text(page),
        new RegExp(`Kubernetes ${minimum} or later.*tested with ${oldestTested}\\s+and ${newestTested}`, 's'),
        page,
      );
    const { go } = await readGoMod(controlPlaneModule);
    const needed = go.split('.').slice(0, 2).join('.');
    for (const page of ['README.md', 'docs/tutorials/demo.md', 'CONTRIBUTING.md'])
      assert.match(await text(page), new RegExp(`Go ${needed.replace('.', '\\.')} or later`), page);
    assert.match(
      await text('docs/reference/project-status.md'),
      new RegExp(`real Kubernetes ${newestTested}.*KUBERNETES=${oldestTested}`, 's'),
    );
  });
});
