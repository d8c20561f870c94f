/** The metrics of a pool of machines. Pure. */
import type { WindowsPoolStatus } from '../../api/api.gen.ts';
import { type GaugeSample, gaugeSample } from '../../api/metricCatalogue.ts';
import { maxUnavailableOf } from '../../disruption/nodeBudget.ts';
import type { MachinesDerived } from './machinesState.ts';

/** The gauges of a pool of machines, in addition to those of every pool. */
export function machinesSamples({ pool }: MachinesDerived, { machines, nodes }: WindowsPoolStatus): GaugeSample[] {
  const { total = 0, withoutNode = 0, deleting = 0 } = machines ?? {};
  const states = { withNode: total - withoutNode, withoutNode, deleting } as const;
  const desired = nodes?.desired;
  return [
    ...(machines ? (Object.keys(states) as (keyof typeof states)[]) : []).map((state) =>
      gaugeSample('windowspool_machines', { state }, states[state]),
    ),
    ...(machines ? [gaugeSample('windowspool_machines_outdated', {}, machines.outdated ?? 0)] : []),
    ...(desired === undefined
      ? []
      : [gaugeSample('windowspool_nodes_max_unavailable', {}, maxUnavailableOf(pool, desired))]),
  ];
}
