/** One action in a pool's life, and what most of them have in common. */
import fc from 'fast-check';
import type { WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import type { NodeGroupPool, SpecChange } from '../../../controllers/windowspool/testing/fixtures.ts';
import type { CallFaults } from '../localaws/wire/callFaults.ts';
import type { LocalAwsWorld } from './localAwsWorld.ts';

/** One action of a user, of AWS or of time. Counterexamples show its name. */
export interface Action<W extends LocalAwsWorld = LocalAwsWorld> {
  readonly name: string;
  readonly run?: (world: W) => void;
  /** Milliseconds during which only the operator and AWS act. */
  readonly passes?: number;
  /** How a counterexample shows it. */
  readonly [fc.toStringMethod]: () => string;
}

/** An action of this name. */
export function action<W extends LocalAwsWorld = LocalAwsWorld>(
  name: string,
  rest: Pick<Action<W>, 'run' | 'passes'>,
): Action<W> {
  return { name, ...rest, [fc.toStringMethod]: () => name };
}

export const POOLS = ['web', 'db'] as const;
export const pool = fc.constantFrom(...POOLS);

export type Edit = (spec: NodeGroupPool['spec']) => NodeGroupPool['spec'];

/** A change of the spec of one pool, if it exists. */
export function edits(
  what: string,
  edit: fc.Arbitrary<Edit>,
  also: (world: LocalAwsWorld, name: string) => unknown = () => undefined,
): fc.Arbitrary<Action> {
  return fc.tuple(pool, edit).map(([name, change]) =>
    action(`${what} of ${name}`, {
      run: (world) => {
        const known = world.pools.get(name) as NodeGroupPool | undefined;
        if (!known || known.metadata.deletionTimestamp) return;
        const spec = change(known.spec);
        if (isRejected(spec)) return;
        world.apply({ ...known, spec } as WindowsPool);
        also(world, name);
      },
    }),
  );
}

/** Whether the schema rejects the spec: EKS accepts nothing of this together with a custom AMI. */
function isRejected({ nodeGroup }: NodeGroupPool['spec']): boolean {
  const { ami, releaseVersion, kubernetesVersion, warmPool, launchTemplate } = nodeGroup;
  return ami !== undefined && [releaseVersion, kubernetesVersion, warmPool, launchTemplate].some(Boolean);
}

type NodeGroup = NodeGroupPool['spec']['nodeGroup'];

/** A change of some fields of `spec.nodeGroup`; undefined removes a field. */
export const group =
  (change: { readonly [K in keyof NodeGroup]?: NodeGroup[K] | undefined }): Edit =>
  (spec) => ({ ...spec, nodeGroup: given({ ...spec.nodeGroup, ...change }) as NodeGroup });

/** The fields that are given. */
export const given = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

/** A change of some fields of the spec. */
export const top =
  (change: SpecChange): Edit =>
  (spec) =>
    ({ ...spec, ...change }) as NodeGroupPool['spec'];

/** An action on one pool. */
export const ofPool = (what: string, run: (world: LocalAwsWorld, name: string) => void): fc.Arbitrary<Action> =>
  pool.map((name) => action(`${what} ${name}`, { run: (world) => run(world, name) }));

/** A fault of the next call of one of these operations. */
export const call = (what: string, arm: (calls: CallFaults, operation: string) => void): fc.Arbitrary<Action> =>
  fc
    .constantFrom(
      'CreateNodegroup',
      'DescribeNodegroup',
      'UpdateNodegroupConfig',
      'UpdateNodegroupVersion',
      'DescribeUpdate',
      'DeleteNodegroup',
      'DescribeCluster',
      'TagResource',
      'TerminateInstanceInAutoScalingGroup',
      'DescribeAutoScalingGroups',
      'DescribeInstances',
      'DescribeLaunchTemplates',
      'CreateLaunchTemplate',
      'CreateLaunchTemplateVersion',
      'DeleteLaunchTemplateVersions',
      'DeleteLaunchTemplate',
    )
    .map((operation) => action(`${operation} ${what}`, { run: ({ cloud }) => arm(cloud.faults.calls, operation) }));
