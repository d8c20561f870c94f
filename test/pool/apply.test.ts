import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { V1ManagedFieldsEntry } from '@kubernetes/client-node';
import { parse } from 'yaml';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, isReconciled } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Every list and map that a user may write, and nothing that has a default. */
const FULL = {
  nodeGroup: {
    instanceTypes: ['m5.large', 'm5.xlarge'],
    tags: { cost: '42' },
    update: {
      policy: 'Automatic',
      maintenanceWindows: [{ schedule: '0 3 29 2 *', duration: '4h' }],
    },
  },
  labels: { team: 'web' },
  taints: [{ key: 'gpu', effect: 'NoSchedule' }],
  verification: { policy: 'Report', warnOnly: ['NoPodAddresses'] },
  runtimeClass: { scope: 'Pool' },
};

interface Live extends WindowsPool {
  readonly metadata: WindowsPool['metadata'] & {
    readonly managedFields: readonly Wire<V1ManagedFieldsEntry>[];
  };
}

/** How a tool applies, and the name under which the API server keeps what it said. */
const styles: readonly (readonly [how: string, name: string, flags: readonly string[], manager: string])[] = [
  ['client-side', 'by-client', [], 'kubectl-client-side-apply'],
  ['server-side', 'by-server', ['--server-side'], 'kubectl'],
  [
    'server-side by force',
    'by-force',
    ['--server-side', '--force-conflicts', '--field-manager=argocd-controller'],
    'argocd-controller',
  ],
];

describe('a manifest that is applied again and again beside a working operator', () => {
  const stage = withOperator('--resync-interval=300ms');

  const live = async (name: string): Promise<Live> => {
    const found = await stage.world.get<Live>('windowspool', name, '--show-managed-fields');
    return found ?? assert.fail(`there is no pool ${name}`);
  };
  const looks = (name: string) =>
    stage.world.cloud
      .calls()
      .filter(
        ({ operation, input }) =>
          operation === 'DescribeNodegroup' && isDeepStrictEqual(input, { clusterName: 'demo', nodegroupName: name }),
      ).length;

  /**
   * Waits until the operator has reported the generation and then reconciled twice without a write; returns the metadata. One reconcile is not
   * enough: it may run while the write for the last change is in flight.
   */
  async function settled(name: string): Promise<Live['metadata']> {
    let seen = { version: '', at: 0 };
    const isQuiet = async () => {
      const pool = await live(name);
      const { metadata } = pool;
      if (metadata.resourceVersion !== seen.version) seen = { version: metadata.resourceVersion, at: looks(name) };
      return isReconciled(pool) && looks(name) >= seen.at + 2 && metadata;
    };
    return waitFor(isQuiet, {
      what: `pool ${name} to be left alone`,
      timeoutMs: 30_000,
      explain: () => stage.operator.tail(),
    });
  }

  async function differences(manifest: object, flags: readonly string[]): Promise<string> {
    const { stdout, stderr, code } = await stage.world.controlPlane.kubectl(['diff', '-f', '-', ...flags], {
      stdin: JSON.stringify(manifest),
    });
    assert.ok(code === 0 || code === 1, stderr);
    return stdout;
  }

  for (const [how, name, flags, manager] of styles) {
    const manifest = poolManifest(name, FULL);

    it(`${how}: writes nothing but the first time`, async () => {
      await stage.world.apply(manifest, ...flags);
      await stage.world.waitForPool(name, 'to be Ready', (pool) => conditionOf(pool, 'Ready') === 'True/Verified');
      const before = await settled(name);
      for (const _ of [1, 2, 3]) {
        const printed = await stage.world.apply(manifest, ...flags);
        assert.match(printed, flags.length > 0 ? /serverside-applied/ : /unchanged/);
      }
      assert.deepEqual(await settled(name), before);
      assert.deepEqual(
        before.managedFields.filter(({ manager: other, subresource }) => other === manager && !subresource).length,
        1,
      );
    });

    it(`${how}: kubectl diff finds nothing, whatever the schema has for defaults`, async () => {
      assert.equal(await differences(manifest, flags), '');
    });

    it(`${how}: leaves a size that something else has set, when the manifest has none`, async () => {
      await stage.world.kubectl('scale', 'windowspool', name, '--replicas=2');
      await stage.world.waitForPool(name, 'to have 2 nodes', (pool) => pool?.status?.nodes?.verified === 2);
      const before = await settled(name);
      await stage.world.apply(manifest, ...flags);
      assert.equal(await differences(manifest, flags), '');
      assert.deepEqual(await settled(name), before);
      assert.equal((await live(name)).spec.scaling?.desired, 2);
    });
  }

  it('an edit by hand is a conflict server-side, and by force is put back for good', async () => {
    const manifest = poolManifest('by-server', FULL);
    await stage.world.patchPool('by-server', { scaling: { max: 5 } });
    await assert.rejects(
      stage.world.apply(manifest, '--server-side'),
      /conflict with "kubectl-patch".*\n?.*spec\.scaling\.max/,
    );
    await stage.world.apply(manifest, '--server-side', '--force-conflicts');
    assert.equal((await live('by-server')).spec.scaling?.max, 3);
    const before = await settled('by-server');
    await stage.world.apply(manifest, '--server-side');
    assert.deepEqual(await settled('by-server'), before);
  });

  it('a pool that was applied client-side goes over to server-side, and is stable from then on', async () => {
    const manifest = poolManifest('by-client', FULL);
    await stage.world.apply(manifest, '--server-side');
    const before = await settled('by-client');
    assert.ok(before.managedFields.every(({ manager }) => manager !== 'kubectl-client-side-apply'));
    await stage.world.apply(manifest, '--server-side');
    assert.deepEqual(await settled('by-client'), before);
    assert.equal(await differences(manifest, ['--server-side']), '');
  });

  it('a pool that is deleted in the foreground, as Argo CD deletes, goes with its group', async () => {
    await stage.world.kubectl('delete', 'windowspool', 'by-force', '--cascade=foreground', '--timeout=60s');
    assert.equal(await stage.world.pool('by-force'), undefined);
    assert.equal(stage.world.cloud.state.groups.get('by-force'), undefined);
    assert.equal(await stage.world.get('runtimeclass', 'by-force'), undefined);
  });

  it('what config installs is the same at the second time', async () => {
    for (const folder of ['config/crd', 'config/rbac']) {
      await stage.world.kubectl('apply', '-k', `${ROOT}${folder}`);
      const printed = await stage.world.kubectl('apply', '-k', `${ROOT}${folder}`);
      const changed = printed.split('\n').filter((line) => line !== '' && !line.endsWith(' unchanged'));
      assert.deepEqual(changed, []);
    }
  });
});

describe('the schema, for tools that compare what they applied with what there is', () => {
  interface Schema {
    readonly default?: unknown;
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly items?: Schema;
    readonly additionalProperties?: Schema | boolean;
  }

  /** The paths of defaults that lie inside a list. */
  function defaultsInLists(schema: Schema, path: string, inList = false): string[] {
    const { properties = {}, items, additionalProperties } = schema;
    return [
      ...(inList && schema.default !== undefined ? [path] : []),
      ...Object.entries(properties).flatMap(([name, property]) => defaultsInLists(property, `${path}.${name}`, inList)),
      ...(items ? defaultsInLists(items, `${path}[]`, true) : []),
      ...(typeof additionalProperties === 'object' ? defaultsInLists(additionalProperties, `${path}.*`, inList) : []),
    ];
  }

  // They merge maps and compare lists as a whole, so a default within a list is an edit to them, for ever.
  it('has no default inside a list', () => {
    const { spec } = parse(readFileSync(`${ROOT}crds/windowspools.yaml`, 'utf8'));
    assert.deepEqual(defaultsInLists(spec.versions[0].schema.openAPIV3Schema, ''), []);
  });
});
