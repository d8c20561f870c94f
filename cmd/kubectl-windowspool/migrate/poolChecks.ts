/** Whether the new pool can take the pods of the old one. Pure. */
import { isDisrupted } from '../../../controllers/windowspool/disruption/reservation.ts';
import { POD_ADDRESSES } from '../../../controllers/windowspool/nodes/windowsVersions.ts';
import { nodeSourceOf } from '../../../controllers/windowspool/rules/nodeSource.ts';
import { isDeleting } from '../../../controllers/windowspool/rules/poolQueries.ts';
import { parseQuantity } from '../../../controllers/windowspool/util/quantity.ts';
import { compact, count, joined, sentence } from '../../../controllers/windowspool/util/words.ts';
import { reportOf } from '../poolReport.ts';
import type { FoundPod, Usage } from './inventory.ts';
import { isUsable, type Move, type Side, usableNodes } from './side.ts';

/** Why the nodes of the old pool must not be drained now. */
export interface Problem {
  readonly message: string;
  readonly command: string;
}

/** Why the old nodes must not be drained now. */
export function problemsOf({ from, to }: Move): Problem[] {
  const report = reportOf(to.pool);
  const status = (side: Side) => `kubectl windowspool status ${side.name}`;
  const problems: Problem[] = [];
  if (isDeleting(from.pool))
    problems.push({ message: `Pool ${from.name} is being deleted.`, command: `${status(from)} --watch` });
  if (report.verdict !== 'Ready')
    problems.push({
      message: `Pool ${to.name} ${report.verdict === 'Deleting' ? 'is being deleted' : 'is not Ready'}: ${sentence(report.message)}`,
      command: status(to),
    });
  else if (usableNodes(to).length === 0)
    problems.push({
      message: `No node of pool ${to.name} is verified and accepts pods.`,
      command:
        to.nodes.length === 0 && nodeSourceOf(to.pool).hasSize ? scale(to, 1) : `kubectl windowspool nodes ${to.name}`,
    });
  if (isDisrupted(from.pool))
    problems.push({
      message: `The operator is replacing nodes of pool ${from.name}. Wait until it has finished.`,
      command: `${status(from)} --watch`,
    });
  return problems;
}

function scale({ name }: Side, replicas: number): string {
  return `kubectl scale windowspool ${name} --replicas ${replicas}`;
}

/** What may keep the pods from running in the new pool, as sentences. `used`: what the pods on its nodes take. */
export function poolAdvice(move: Move, pods: readonly Pick<FoundPod, 'usage'>[], used: Usage): string[] {
  return [...nodesAdvice(move, pods.length), ...capacityAdvice(move.to, pods, used)];
}

function nodesAdvice({ from, to }: Move, pods: number): string[] {
  const unusable = to.nodes.filter((node) => !isUsable(node)).map(({ name }) => name);
  const usable = to.nodes.length - unusable.length;
  const isSmaller = pods > 0 && usable < from.nodes.length;
  return compact([
    unusable.length > 0 &&
      `Nodes of pool ${to.name} that are not verified or accept no pods: ${joined(unusable)}. See: kubectl windowspool nodes ${to.name}`,
    isSmaller &&
      `Pool ${to.name} has ${count(usable, 'node')} that ${usable === 1 ? 'accepts' : 'accept'} pods, and pool ${from.name} has ${count(from.nodes.length, 'node')}. ${remedyFor(to, from)}`,
    isDisrupted(to.pool) && `The operator is replacing nodes of pool ${to.name}, so pods that move now may move again.`,
  ]);
}

function remedyFor(to: Side, from: Side): string {
  if (!nodeSourceOf(to.pool).hasSize) return `Add nodes, unless those of pool ${to.name} are larger.`;
  return `Unless they are larger, or an autoscaler adds nodes: ${scale(to, from.nodes.length)}`;
}

const GIB = 1024 ** 3;

function capacityAdvice(to: Side, pods: readonly Pick<FoundPod, 'usage'>[], used: Usage): string[] {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const offered = (resource: string) =>
    sum(usableNodes(to).map(({ allocatable }) => parseQuantity(allocatable[resource]) ?? 0));
  const needed = {
    memory: sum(pods.map(({ usage }) => usage.memory)),
    addresses: sum(pods.map(({ usage }) => usage.addresses)),
  };
  const free = {
    memory: Math.max(0, offered('memory') - used.memory),
    addresses: Math.max(0, offered(POD_ADDRESSES) - used.addresses),
  };
  const gib = (bytes: number) => `${(bytes / GIB).toFixed(1)} GiB`;
  const rest = 'Some of them stay Pending unless the pool grows.';
  return compact([
    needed.addresses > free.addresses &&
      `The pods to move need ${count(needed.addresses, 'address')}, and pool ${to.name} has ${free.addresses} free. ${rest}`,
    needed.memory > free.memory &&
      `The pods to move request ${gib(needed.memory)} of memory, and pool ${to.name} has ${gib(free.memory)} free. ${rest}`,
  ]);
}
