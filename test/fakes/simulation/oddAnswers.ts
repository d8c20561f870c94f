/**
 * Answers of AWS to reads that are not true: a list without its last page, a status of another time, a group without its tags. Each differs in one
 * way from the true answer, and only one is given, so that a life shows what one odd answer costs.
 */
import { isDeepStrictEqual } from 'node:util';

/** A read of the operator, with the true answer. */
interface Read {
  readonly input: Readonly<Record<string, unknown>>;
  /** The true answer; undefined if it is an error. */
  readonly output: Output | undefined;
  /** True answers to the same request before, the latest last. */
  readonly earlier: readonly Earlier[];
  readonly now: number;
}

// biome-ignore lint/suspicious/noExplicitAny: the answers of many operations.
type Output = any;

interface Earlier {
  readonly at: number;
  readonly output: Output;
}

/** What the operator gets in place of the true answer. */
type Odd = { readonly output: Output } | { readonly error: Error };

/** One kind of odd answer: undefined where it would be the true one. */
interface OddAnswer {
  readonly operation: string;
  readonly of: (read: Read) => Odd | undefined;
}

const MINUTE = 60_000;

/** An error in place of an answer. */
const fails = (operation: string, name: string, httpStatusCode: number): OddAnswer => ({
  operation,
  of: ({ output }) =>
    output && { error: Object.assign(new Error(`${operation} is odd`), { name, $metadata: { httpStatusCode } }) },
});
const absent = (operation: string): OddAnswer => fails(operation, 'ResourceNotFoundException', 404);
const denied = (operation: string): OddAnswer => fails(operation, 'AccessDeniedException', 403);

/** The true answer with a change. */
const changed = (operation: string, change: (output: Output) => Output): OddAnswer => ({
  operation,
  of: ({ output }) => (output === undefined ? undefined : { output: change(structuredClone(output)) }),
});

const group = (change: object): OddAnswer =>
  changed('DescribeNodegroup', ({ nodegroup }) => ({ nodegroup: { ...nodegroup, ...change } }));

const update = (status: string): OddAnswer =>
  changed('DescribeUpdate', ({ update: known }) => ({ update: { ...known, status } }));

/** An earlier answer to the same request. */
const earlier = (operation: string, pick: (read: Read) => Earlier | undefined): OddAnswer => ({
  operation,
  of: (read) => pick(read),
});

const aMinuteAgo = ({ earlier: known, now }: Read) => known.findLast(({ at }) => at <= now - MINUTE);

const half = <T>(all: readonly T[] = []): readonly T[] => all.slice(0, Math.floor(all.length / 2));

/** The operations with answers of another time. */
const REMEMBERED: readonly string[] = ['DescribeNodegroup', 'DescribeAutoScalingGroups'];

/** All kinds, by what the answer says. */
export const ODD_ANSWERS = {
  'the node group is absent': absent('DescribeNodegroup'),
  'the node group has no tags': group({ tags: {} }),
  'the node group has no scaling group': group({ resources: {} }),
  'the node group is CREATING': group({ status: 'CREATING' }),
  'the node group is ACTIVE': group({ status: 'ACTIVE' }),
  'the node group is UPDATING': group({ status: 'UPDATING' }),
  'the node group is DELETING': group({ status: 'DELETING' }),
  'the node group is CREATE_FAILED': group({ status: 'CREATE_FAILED' }),
  'the node group is DELETE_FAILED': group({ status: 'DELETE_FAILED' }),
  'the node group is DEGRADED': group({ status: 'DEGRADED' }),
  'the node group as it was a minute ago': earlier('DescribeNodegroup', aMinuteAgo),
  'the node group as it was at first': earlier('DescribeNodegroup', ({ earlier: [first] }) => first),
  'the update is absent': absent('DescribeUpdate'),
  'the update is Successful': update('Successful'),
  'the update is Failed': update('Failed'),
  'the update is Cancelled': update('Cancelled'),
  'the cluster is absent': absent('DescribeCluster'),
  'the cluster cannot be read': denied('DescribeCluster'),
  'the node group cannot be read': denied('DescribeNodegroup'),
  'the update cannot be read': denied('DescribeUpdate'),
  'the scaling groups have no instances': changed('DescribeAutoScalingGroups', ({ AutoScalingGroups: all = [] }) => ({
    AutoScalingGroups: all.map((one: object) => ({ ...one, Instances: [] })),
  })),
  'the scaling groups have half of the instances': changed(
    'DescribeAutoScalingGroups',
    ({ AutoScalingGroups: all = [] }) => ({
      AutoScalingGroups: all.map((one: { Instances?: [] }) => ({ ...one, Instances: half(one.Instances) })),
    }),
  ),
  'half of the scaling groups': changed('DescribeAutoScalingGroups', ({ AutoScalingGroups: all }) => ({
    AutoScalingGroups: half(all),
  })),
  'the scaling groups as they were a minute ago': earlier('DescribeAutoScalingGroups', aMinuteAgo),
  'no instances': changed('DescribeInstances', () => ({ Reservations: [] })),
  'the launch template is absent': fails('DescribeLaunchTemplates', 'InvalidLaunchTemplateName.NotFoundException', 400),
  'half of the names of node groups': changed('ListNodegroups', ({ nodegroups }) => ({ nodegroups: half(nodegroups) })),
} as const satisfies Readonly<Record<string, OddAnswer>>;

export type OddAnswerName = keyof typeof ODD_ANSWERS;
export const ODD_ANSWER_NAMES = Object.keys(ODD_ANSWERS) as OddAnswerName[];

/** Gives one odd answer, and counts the reads at which each kind could be given. */
export class OddAnswers {
  /** How many reads each kind could answer since `begin`. */
  readonly reads = new Map<OddAnswerName, number>();
  /** The kind that was given; undefined before. */
  given: OddAnswerName | undefined;
  #plan: { readonly name: OddAnswerName; readonly read: number } | undefined;
  #isOpen = false;
  readonly #earlier = new Map<string, Earlier[]>();

  /** From now on, reads are counted. The `read`th that this kind could answer, the first is 0, gets it. */
  begin(plan?: { readonly name: OddAnswerName; readonly read: number }): void {
    this.reads.clear();
    this.#plan = plan;
    this.#isOpen = true;
  }

  /** From now on, every answer is true. */
  end(): void {
    this.#isOpen = false;
  }

  /** The answer to a read. Rejects with an error of the SDK, a true or an odd one. */
  async answer(operation: string, input: object, now: number, ask: () => Promise<unknown>): Promise<unknown> {
    const key = `${operation} ${JSON.stringify(input)}`;
    const known = this.#earlier.get(key) ?? [];
    const truth = await ask().then(
      (output) => ({ output: output as Output }),
      (error: unknown) => ({ error, output: undefined }),
    );
    const odd =
      this.#isOpen && this.#oddAnswer(operation, { input: { ...input }, output: truth.output, earlier: known, now });
    if (REMEMBERED.includes(operation) && truth.output !== undefined) {
      const [first, ...others] = [...known, { at: now, output: structuredClone(truth.output) }];
      const kept = others.filter(({ at }, i) => at > now - 2 * MINUTE || i === others.length - 1);
      this.#earlier.set(key, first ? [first, ...kept] : kept);
    }
    const given = odd || truth;
    if ('error' in given) throw given.error;
    return given.output;
  }

  #oddAnswer(operation: string, read: Read): Odd | undefined {
    let given: Odd | undefined;
    for (const name of ODD_ANSWER_NAMES) {
      const kind: OddAnswer = ODD_ANSWERS[name];
      if (kind.operation !== operation) continue;
      const odd = kind.of(read);
      if (!odd || ('output' in odd && isDeepStrictEqual(withoutMetadata(odd.output), withoutMetadata(read.output))))
        continue;
      const count = this.reads.get(name) ?? 0;
      this.reads.set(name, count + 1);
      if (this.#plan?.name !== name || this.#plan.read !== count) continue;
      given = odd;
      this.given = name;
    }
    return given;
  }
}

function withoutMetadata(output: Output): object {
  return { ...output, $metadata: undefined };
}
