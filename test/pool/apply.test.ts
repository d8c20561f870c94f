import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { V1ManagedFieldsEntry } from '@kubernetes/client-node';
import { parse } from 'yaml';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { chosenSeries } from '../../hack/controlplane/binaries.ts';
import { callsOf } from '../awsCalls.ts';
import { isReconciled } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Every list and map that a user may set, and no field that has a default. */
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
};

interface Live extends WindowsPool {
  readonly metadata: WindowsPool['metadata'] & {
    readonly managedFields: readonly Wire<V1ManagedFieldsEntry>[];
  };
}

/** How a tool applies a manifest, and its field manager. */
const styles: readonly (readonly [how: string, name: string, flags: readonly string[], manager: string])[] = [
  ['client-side', 'by-client', [], 'kubectl-client-side-apply'],
  ['server-side', 'by-server', ['--server-side'], 'kubectl'],
  [
    'server-side with force',
    'by-force',
    ['--server-side', '--force-conflicts', '--field-manager=argocd-controller'],
    'argocd-controller',
  ],
];

describe('a manifest that is applied repeatedly while an operator runs', () => {
  const fixture = withOperator('--resync-interval=300ms');

  const live = async (name: string): Promise<Live> => {
    const found = await fixture.world.get<Live>('windowspool', name, '--show-managed-fields');
    return found ?? assert.fail(`there is no pool ${name}`);
  };
  const polls = (name: string) => callsOf(fixture.world, 'DescribeNodegroup', name).length;

  /**
   * Waits until the operator has reported the generation and then reconciled twice without a write; returns the pool. One reconcile is not
   * enough: it may run while the write for the last change is in flight. A reconcile that finds something to do reads the group twice.
   */
  async function settled(name: string): Promise<Live> {
    let seen = { version: '', at: 0 };
    const isQuiet = async () => {
      const pool = await live(name);
      const version = pool.metadata.resourceVersion ?? '';
      if (version !== seen.version) seen = { version, at: polls(name) };
      return isReconciled(pool) && polls(name) >= seen.at + 4 && pool;
    };
    return fixture.until(`pool ${name} to be stable`, isQuiet);
  }

  async function differences(manifest: object, flags: readonly string[]): Promise<string> {
    const { stdout, stderr, code } = await fixture.world.controlPlane.kubectl(['diff', '-f', '-', ...flags], {
      stdin: JSON.stringify(manifest),
    });
    assert.ok(code === 0 || code === 1, stderr);
    return stdout;
  }

  for (const [how, name, flags, manager] of styles) {
    const manifest = poolManifest(name, { ...FULL, runtimeClass: { name } });

    it(`${how}: changes the object only the first time`, async () => {
      await fixture.world.apply(manifest, ...flags);
      await fixture.world.waitForReady(name);
      const before = await settled(name);
      for (const _ of [1, 2, 3]) {
        const printed = await fixture.world.apply(manifest, ...flags);
        assert.match(printed, flags.length > 0 ? /serverside-applied/ : /unchanged/);
      }
      assert.deepEqual(await settled(name), before);
      assert.deepEqual(
        before.metadata.managedFields.filter(({ manager: other, subresource }) => other === manager && !subresource)
          .length,
        1,
      );
    });

    it(`${how}: has no difference in kubectl diff, despite the defaults of the schema`, async () => {
      assert.equal(await differences(manifest, flags), '');
    });

    it(`${how}: keeps a size that another client set, if the manifest has none`, async () => {
      await fixture.world.kubectl('scale', 'windowspool', name, '--replicas=2');
      await fixture.world.waitForPool(name, 'to have 2 nodes', (pool) => pool?.status?.nodes?.verified === 2);
      const before = await settled(name);
      await fixture.world.apply(manifest, ...flags);
      assert.equal(await differences(manifest, flags), '');
      assert.deepEqual(await settled(name), before);
      assert.equal((await live(name)).spec.nodeGroup?.scaling.desiredSize, 2);
    });
  }

  it('conflicts with a manual edit server-side, and reverts it with force', async () => {
    const manifest = poolManifest('by-server', { ...FULL, runtimeClass: { name: 'by-server' } });
    await fixture.world.patchPool('by-server', { nodeGroup: { scaling: { maxSize: 5 } } });
    await assert.rejects(
      fixture.world.apply(manifest, '--server-side'),
      /conflict with "kubectl-patch".*\n?.*spec\.nodeGroup\.scaling\.maxSize/,
    );
    await fixture.world.apply(manifest, '--server-side', '--force-conflicts');
    assert.equal((await live('by-server')).spec.nodeGroup?.scaling.maxSize, 3);
    const before = await settled('by-server');
    await fixture.world.apply(manifest, '--server-side');
    assert.deepEqual(await settled('by-server'), before);
  });

  it('can be migrated from client-side to server-side apply, and is stable after that', async () => {
    const manifest = poolManifest('by-client', { ...FULL, runtimeClass: { name: 'by-client' } });
    await fixture.world.apply(manifest, '--server-side');
    const before = await settled('by-client');
    const isMigrated = before.metadata.managedFields.every(({ manager }) => manager !== 'kubectl-client-side-apply');
    // kubectl 1.34 takes over the annotation first, and then no longer finds the manager whose fields it would migrate.
    assert.equal(isMigrated, chosenSeries() !== '1.34');
    await fixture.world.apply(manifest, '--server-side');
    assert.deepEqual(await settled('by-client'), before);
    assert.equal(await differences(manifest, ['--server-side']), '');
  });

  it('can be deleted in the foreground, as Argo CD does, together with its group', async () => {
    await fixture.world.kubectl('delete', 'windowspool', 'by-force', '--cascade=foreground', '--timeout=60s');
    assert.equal(await fixture.world.pool('by-force'), undefined);
    assert.equal(fixture.world.cloud.state.groups.get('by-force'), undefined);
    assert.equal(await fixture.world.get('runtimeclass', 'by-force'), undefined);
  });

  it('in config is unchanged the second time', async () => {
    for (const folder of ['config/crd', 'config/rbac']) {
      await fixture.world.kubectl('apply', '-k', `${ROOT}${folder}`);
      const printed = await fixture.world.kubectl('apply', '-k', `${ROOT}${folder}`);
      const changed = printed.split('\n').filter((line) => line !== '' && !line.endsWith(' unchanged'));
      assert.deepEqual(changed, []);
    }
  });
});

describe('the schema, for tools that compare a manifest with the live object', () => {
  interface Schema {
    readonly default?: unknown;
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly items?: Schema;
    readonly additionalProperties?: Schema | boolean;
  }

  /** The paths of defaults inside a list. */
  function defaultsInLists(schema: Schema, path: string, inList = false): string[] {
    const { properties = {}, items, additionalProperties } = schema;
    return [
      ...(inList && schema.default !== undefined ? [path] : []),
      ...Object.entries(properties).flatMap(([name, property]) => defaultsInLists(property, `${path}.${name}`, inList)),
      ...(items ? defaultsInLists(items, `${path}[]`, true) : []),
      ...(typeof additionalProperties === 'object' ? defaultsInLists(additionalProperties, `${path}.*`, inList) : []),
    ];
  }

  // They merge maps and compare lists as a whole, so a default inside a list is always a difference.
  it('has no default inside a list', () => {
    const { spec } = parse(readFileSync(`${ROOT}crds/windowspools.yaml`, 'utf8'));
    assert.deepEqual(defaultsInLists(spec.versions[0].schema.openAPIV3Schema, ''), []);
  });
});
