/** A CRD of another release than the operator: what works, what is lost, and that the operator reports it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { parse } from 'yaml';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import manifest from '../../package.json' with { type: 'json' };
import { callsOf } from '../awsCalls.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import { isReconciled, startTestEnv, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MISMATCH = 'windowspool_crd_version_mismatch';

describe('an operator and a CRD of another release', function () {
  this.timeout(300_000);
  let world: TestEnv;
  let operator: OperatorProcess | undefined;

  before(async () => {
    world = await startTestEnv({ speed: 4, bare: true });
    await applyCrd('0.0.9', ({ status }) => delete status?.properties?.tracking);
    await world.install();
  });
  after(() => world?.stop());

  /** Applies the CRD of the checkout as that of another release, with a changed schema of the pool. */
  async function applyCrd(
    version: string,
    change: (fields: Record<string, { properties?: Record<string, unknown> }>) => void = () => undefined,
  ): Promise<void> {
    const crd: Stored<V1CustomResourceDefinition> = parse(await readFile(join(ROOT, 'crds/windowspools.yaml'), 'utf8'));
    Object.assign(crd.metadata.labels ?? {}, { 'app.kubernetes.io/version': version });
    change(crd.spec.versions[0]?.schema?.openAPIV3Schema?.properties ?? assert.fail('the CRD has no schema'));
    await world.apply(crd, '--server-side', '--force-conflicts');
  }

  const start = async () => {
    await operator?.stop();
    operator = await world.operator(['--leader-elect=false', '--resync-interval=1s']).ready();
    return operator;
  };
  const mismatch = async () =>
    (await operator?.get('/metrics'))?.body.match(/^windowspool_crd_version_mismatch (\d)$/m)?.[1];
  const mismatchToBe = (value: string) =>
    waitFor(async () => (await mismatch()) === value, {
      what: `${MISMATCH} to be ${value}`,
      explain: () => operator?.tail() ?? '',
    });
  const warnings = () => operator?.lines.filter(({ level }) => level === 'warn') ?? [];

  it('of an earlier release: names both releases and each field that the API server drops, once', async () => {
    await start();
    await world.apply(poolManifest('web'));
    await world.waitForReady('web');
    await world.waitForPool('web', 'to be reconciled', isReconciled);
    await mismatchToBe('1');
    const [mismatched, ...again] = warnings().filter(({ crd }) => crd !== undefined);
    assert.deepEqual([mismatched?.crd, again], ['0.0.9', []]);
    assertNames(mismatched?.msg, '0.0.9', manifest.version, 'Apply the CRD');
    const dropped = warnings().flatMap(({ warning }) => warning ?? []);
    assert.deepEqual(dropped, ['unknown field "status.tracking"']);
    // What is lost: the operator sends a size only if it knows which one it sent last.
    await world.kubectl('scale', 'windowspool', 'web', '--replicas=2');
    await world.waitForPool('web', 'to be reconciled', isReconciled);
    assert.deepEqual(callsOf(world, 'UpdateNodegroupConfig', 'web'), []);
  });

  it('upgraded while the operator runs: reports no mismatch any more, and sends the next size', async () => {
    await applyCrd(manifest.version);
    await mismatchToBe('0');
    await world.kubectl('scale', 'windowspool', 'web', '--replicas=3');
    await world.waitForPool('web', 'to have three nodes', (pool) => pool?.status?.summary?.verified === '3/3');
  });

  it('of a later release: says that the operator ignores its new fields, and changes no pool', async () => {
    const before = await world.pool('web');
    await applyCrd('0.99.0', ({ spec }) => Object.assign(spec?.properties ?? {}, { later: { type: 'string' } }));
    await world.waitForPool('web', 'to be served', (pool) => pool !== undefined);
    await start();
    await mismatchToBe('1');
    assertNames(
      warnings().find(({ crd }) => crd !== undefined)?.msg,
      '0.99.0',
      manifest.version,
      'Upgrade the operator',
    );
    assert.deepEqual((await world.pool('web'))?.status, before?.status);
  });
});
