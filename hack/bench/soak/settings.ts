/** The options of the soak test, from environment variables. */

export interface SoakSettings {
  readonly minutes: number;
  /** Nodes that other tools created, as objects without instances. */
  readonly nodes: number;
  /** Pools in total. */
  readonly pools: number;
}

/** One pool of so many has a node group, and at least one. */
const POOLS_PER_GROUP = 5;

interface Limit {
  readonly fallback: number;
  readonly least: number;
  readonly most: number;
  readonly whole: boolean;
}

/** The tokens of the replicas are valid for a day. The quota of the local AWS is 100 node groups. */
const limits: Readonly<Record<'SOAK_MINUTES' | 'SOAK_NODES' | 'SOAK_POOLS', Limit>> = {
  SOAK_MINUTES: { fallback: 10, least: 0.5, most: 1_200, whole: false },
  SOAK_NODES: { fallback: 5_000, least: 10, most: 50_000, whole: true },
  SOAK_POOLS: { fallback: 100, least: 2, most: 500, whole: true },
};

/** Reads the variables; one that is empty counts as unset. Throws if a value is invalid. */
export function soakSettings(environment: NodeJS.ProcessEnv): SoakSettings {
  const read = (name: keyof typeof limits): number => {
    const { fallback, least, most, whole } = limits[name];
    const text = environment[name] || String(fallback);
    const value = Number(text);
    if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
    const kind = whole ? 'a whole number' : 'a number';
    throw new Error(`${name} is ${JSON.stringify(text)}. Set it to ${kind} from ${least} to ${most}.`);
  };
  return { minutes: read('SOAK_MINUTES'), nodes: read('SOAK_NODES'), pools: read('SOAK_POOLS') };
}

/** How many of the pools have a node group, with instances of the local AWS; the others have existing nodes. */
export function nodeGroupPools({ pools }: Pick<SoakSettings, 'pools'>): number {
  return Math.max(1, Math.floor(pools / POOLS_PER_GROUP));
}
