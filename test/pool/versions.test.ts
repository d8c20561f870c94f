/** Every Windows version and edition for which EKS has an AMI type becomes Ready. */
import assert from 'node:assert/strict';
import { conditionOf, READY } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const builds = { Windows2019: '10.0.17763', Windows2022: '10.0.20348', Windows2025: '10.0.26100' } as const;
const kinds = (Object.keys(builds) as (keyof typeof builds)[]).flatMap((windowsVersion) =>
  (['Core', 'Full'] as const).map((edition) => ({
    windowsVersion,
    edition,
    name: `${edition}-${windowsVersion}`.toLowerCase(),
  })),
);

describe('a pool becomes Ready', () => {
  const fixture = withOperator();
  before(async () => {
    const items = kinds.map(({ name, windowsVersion, edition }) =>
      poolManifest(name, { windowsVersion, nodeGroup: { edition } }),
    );
    await fixture.world.apply({ apiVersion: 'v1', kind: 'List', items });
  });

  for (const { name, windowsVersion, edition } of kinds) {
    it(`of ${windowsVersion}, edition ${edition}`, async () => {
      const pool = await fixture.world.waitForConditions(name, READY, 'Reconciling=absent');
      const year = windowsVersion.slice('Windows'.length);
      assert.deepEqual(
        [pool?.status?.nodeGroup?.amiType, pool?.status?.runtimeClass?.name, conditionOf(pool, 'NodesVerified')],
        [`WINDOWS_${edition.toUpperCase()}_${year}_x86_64`, `windows-${year}`, 'True/AllVerified'],
      );
      const [build] = pool?.status?.builds ?? [];
      assert.ok(build?.kernelVersion.startsWith(`${builds[windowsVersion]}.`), JSON.stringify(build));
    });
  }
});
