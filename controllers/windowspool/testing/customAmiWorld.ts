/** Pools with custom AMIs, in the world in memory. */
import assert from 'node:assert/strict';
import { imageIdFor } from '../../../test/fakes/localaws/ec2/images.ts';
import type { StateOptions } from '../../../test/fakes/localaws/state.ts';
import { FakeWorld } from './fakeWorld.ts';
import { type SpecChange, samplePool } from './fixtures.ts';
import { TEMPLATE_NAME } from './launchSettingsScenes.ts';
import { conditionOf, fresh, ready, until } from './life.ts';

/** The custom AMI of the pool, and another one. */
export const [OLD, NEW] = ['2026.02.11', '2026.03.17'].map((date) =>
  imageIdFor('WINDOWS_CORE_2022_x86_64', `1.36-${date}`),
) as [string, string];

/** A pool with this AMI. */
export function spec(id: string, rest: SpecChange = {}): SpecChange {
  return { ...rest, nodeGroup: { diskSizeGiB: undefined, ami: { id }, ...rest.nodeGroup } } as SpecChange;
}

/** Changes the spec of the pool. */
export function change(world: FakeWorld, to: SpecChange): void {
  const pool = world.pools.get('web') ?? assert.fail('there is no pool');
  world.apply({ ...pool, spec: { ...pool.spec, ...samplePool(to).spec } });
}

export const isReady = (world: FakeWorld) => () => ready(world) === 'True';
export const hasVersion = (world: FakeWorld, version: string) => () =>
  world.groups.get('web')?.launchTemplate?.version === version &&
  conditionOf(world, 'UpToDate')?.startsWith('True') === true;

/** A Ready pool; `images` exist, and the parameter has the first of them. */
export async function customWorld(
  to: SpecChange = spec(OLD),
  options: Partial<StateOptions> = {},
  images: readonly string[] = [],
  parameter?: string,
) {
  const world = new FakeWorld(options);
  for (const id of images) world.cloud.faults.image({ id });
  if (parameter !== undefined) world.cloud.faults.parameter({ name: parameter, value: images[0] ?? '' });
  world.apply(fresh(to));
  const deps = world.start();
  await until(world, deps, isReady(world), 'a pool that is Ready');
  return { world, deps };
}

/** The AMI and the user data of a version of the template. */
export function contentOf({ cloud }: FakeWorld, number: number) {
  const template = [...cloud.state.launchTemplates.values()].find(({ name }) => name === TEMPLATE_NAME);
  const { ImageId, UserData = '' } = template?.versions.find((version) => version.number === number)?.data ?? {};
  return { image: ImageId, script: Buffer.from(UserData, 'base64').toString() };
}

/** The AMIs of the running instances. */
export const imagesOf = ({ cloud }: FakeWorld) =>
  [...cloud.state.instances.values()].filter(({ state }) => state === 'running').map(({ imageId }) => imageId);
