import { setTimeout as sleep } from 'node:timers/promises';
import { BenchOperator } from './benchOperator.ts';
import { type Figure, rounded } from './figures.ts';
import { groupName, kernelVersion, REVISION } from './nodeObject.ts';
import { megabytes } from './processFigures.ts';
import type { Result, Section } from './section.ts';
import { type Point, slope } from './statistics.ts';
import { forEachOf } from './workers.ts';

/** The shipped intervals of 10 minutes and of 30 seconds, in this time. */
const ACCELERATION = 300;
const FLAGS = ['--leader-elect=false', '--resync-interval=2s', '--poll-interval=100ms'];
const DAY_SECONDS = 86_400 / ACCELERATION;
const HOUR_MS = (DAY_SECONDS / 24) * 1_000;

const FULL = { nodes: 300, groups: 30, hours: 48 };
const SMALL = { nodes: 4, groups: 2, hours: 1 };
const WRITERS = 8;
/** How many pools and nodes change in each hour. */
const CHANGED_POOLS = 3;
const CHANGED_NODES = 30;
/** Different from the revisions of other sections. */
const FIRST_REVISION = REVISION + 50_000;

/** The cost of days, in minutes. */
export const days: Section = {
  name: 'days',
  what: `two days of ${FULL.groups} pools in ${Math.round((FULL.hours * HOUR_MS) / 60_000)} minutes, with updates and changing nodes: growth of memory, CPU time`,
  limitMs: 15 * 60_000,
  run: async (bench): Promise<Result> => {
    const { nodes, groups, hours } = bench.pick(FULL, SMALL);
    const cluster = await bench.poolsOf(nodes, groups);
    await using operator = await BenchOperator.start(cluster, { flags: FLAGS });
    const memory: Point[] = [];
    const cpu = operator.cpuSeconds;
    const started = performance.now();
    for (let hour = 1; hour <= hours; hour++) {
      await forEachOf(Math.min(CHANGED_NODES, nodes), WRITERS, (index) =>
        cluster.patchStatus((hour * CHANGED_NODES + index) % nodes, {
          nodeInfo: { kernelVersion: kernelVersion(FIRST_REVISION + hour) },
        }),
      );
      for (let index = 0; index < Math.min(CHANGED_POOLS, groups); index++) {
        const pool = groupName((hour * CHANGED_POOLS + index) % groups, groups);
        const patch = JSON.stringify({ spec: { labels: { hour: String(hour) } } });
        await cluster.world.kubectl('patch', 'windowspool', pool, '--type=merge', '--patch', patch);
      }
      await sleep(Math.max(0, started + hour * HOUR_MS - performance.now()), undefined, { signal: bench.signal });
      memory.push({ x: hour / 24, y: megabytes(operator.memory.rssKiB) });
    }
    const elapsedDays = hours / 24;
    const cpuOfDay = (operator.cpuSeconds - cpu) / (groups * elapsedDays);
    // The first quarter fills caches.
    const later = memory.slice(Math.floor(memory.length / 4));
    const name = `two days of ${groups} pools with ${nodes} nodes`;
    const figures: Figure[] = [
      { name: `${name}: growth of memory (RSS) a day`, unit: 'MB', value: rounded(slope(later)), goal: 2 },
      { name: `${name}: memory (RSS) at the end`, unit: 'MB', value: rounded(memory.at(-1)?.y ?? 0), goal: 95 },
      { name: `${name}: CPU time of a pool and day`, unit: 's', value: rounded(cpuOfDay) },
    ];
    return {
      how: `${hours} hours of ${HOUR_MS / 1_000} s each, with intervals that are ${ACCELERATION} times shorter; in each, ${CHANGED_NODES} nodes get another revision and ${CHANGED_POOLS} pools other labels, which EKS applies; growth: the median slope after the first quarter`,
      rows: [
        {
          hours,
          cpuSeconds: rounded(operator.cpuSeconds - cpu),
          firstMB: memory[0]?.y ?? 0,
          lastMB: memory.at(-1)?.y ?? 0,
        },
      ],
      figures,
    };
  },
};
