/** An upgrade of the operator: see test/packaging/upgradeSuite.ts. Its versions are two images, and `kubectl apply -k` rolls them out. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PreviousOperator, previousOperator } from '../packaging/previousOperator.ts';
import { describeUpgrade, type Version } from '../packaging/upgradeSuite.ts';
import { withOperatorPods } from './operatorPodsFixture.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TAG = 'previous';
const env = [
  { name: 'WINPOOL_POLL_INTERVAL', value: '200ms' },
  { name: 'WINPOOL_RESYNC_INTERVAL', value: '1s' },
];

describe('for pods', function () {
  this.timeout(300_000);
  const operator = withOperatorPods();
  let previous: PreviousOperator;

  after(async () => {
    if (!previous) return;
    await operator.world.kubectl('apply', '-f', join(ROOT, 'crds/windowspools.yaml'));
    await previous.end();
  });

  async function install(version: Version): Promise<void> {
    const checkout = version === 'previous' ? { root: previous.manifests, tag: TAG } : {};
    await operator.world.kubectl('apply', '-f', join(checkout.root ?? ROOT, 'crds/windowspools.yaml'));
    await operator.deploy({ ...checkout, container: { env } });
  }

  describeUpgrade('an upgrade of the operator', async () => {
    previous = await previousOperator();
    console.log(`    from ${previous.origin}`);
    await operator.nodes.importImage(await previous.imageArchive(TAG));
    return { world: operator.world, install, uninstall: () => operator.stop(), log: () => operator.log() };
  });
});
