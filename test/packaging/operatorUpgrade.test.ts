/** An upgrade of the operator: see upgradeSuite.ts. Its versions run as processes, one after the other. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import { startTestEnv, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { type PreviousOperator, previousOperator } from './previousOperator.ts';
import { describeUpgrade, type Version } from './upgradeSuite.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FLAGS = ['--poll-interval=200ms', '--resync-interval=1s', '--leader-elect=false'];

describe('for processes', function () {
  this.timeout(300_000);
  let previous: PreviousOperator;
  let world: TestEnv;
  let operator: OperatorProcess | undefined;

  after(async () => {
    await world?.stop();
    await previous?.end();
  });

  async function uninstall(): Promise<void> {
    if (operator) assert.equal(await operator.stop(), 0);
    operator = undefined;
  }

  async function install(version: Version): Promise<void> {
    await uninstall();
    const manifests = version === 'previous' ? previous.manifests : ROOT;
    await world.kubectl('apply', '-f', join(manifests, 'crds/windowspools.yaml'));
    await world.kubectl('apply', '-f', join(manifests, 'config/manager/namespace.yaml'));
    await world.kubectl('apply', '-k', join(manifests, 'config/rbac'));
    await world.login();
    const program = version === 'previous' ? { entry: previous.entry, knownFlags: previous.knownFlags } : {};
    operator = await world.operator(FLAGS, program).ready();
  }

  describeUpgrade('an upgrade of the operator', async () => {
    previous = await previousOperator();
    console.log(`    from ${previous.origin}`);
    world = await startTestEnv({ speed: 4, bare: true });
    return { world, install, uninstall, log: () => operator?.tail() ?? '' };
  });
});
