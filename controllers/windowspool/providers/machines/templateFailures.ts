/**
 * Infrastructure templates whose nodes fail verification in some pool because of their image: such a template is not rolled out automatically in other pools until
 * the nodes are verified. Pure.
 */
import type { FailedTemplate, WindowsPool } from '../../api/api.gen.ts';
import { FINDING_LENGTH } from '../../api/statusLimits.ts';
import type { ReleaseFailure } from '../../model/disruption.ts';
import { describeFinding, isOfTheRelease } from '../../nodes/releaseChecks.ts';
import { machinesIn } from '../../rules/nodeSource.ts';
import { isDeleting } from '../../rules/poolQueries.ts';
import { cut } from '../../util/words.ts';
import { currentMachines, type MachinesState, setOf } from './machinesState.ts';

/** The failure of the pool's template, from its status. */
export function templateFailuresOf(pool: WindowsPool): ReleaseFailure[] {
  const { infrastructureTemplate, failedTemplate } = pool.status?.machines ?? {};
  if (isDeleting(pool) || !infrastructureTemplate || !failedTemplate) return [];
  return [{ pool: pool.metadata.name, ...identityOf(pool, infrastructureTemplate), ...failedTemplate }];
}

/**
 * The failure of the template from which new Machines are made: at least as many of its nodes fail because of their image as are verified. A bad image fails all
 * of them; a single node can report anything.
 */
export function failedTemplateOf(s: MachinesState): FailedTemplate | undefined {
  const current = new Set(currentMachines(s).map(({ node }) => node));
  const failing = s.poolNodes.failing.filter(
    ({ node, failures }) => current.has(node.name) && failures.some(isOfTheRelease),
  );
  const unverified = new Set([...s.poolNodes.failing, ...s.poolNodes.joining].map(({ node }) => node.name));
  const verified = [...current].filter((node) => s.poolNodes.has(node) && !unverified.has(node));
  const [first] = failing;
  const failure = first?.failures.find(isOfTheRelease);
  if (!first || !failure || failing.length < verified.length) return undefined;
  return { node: first.node.name, finding: cut(describeFinding(failure), FINDING_LENGTH) };
}

/** The failure of the pool's template in another pool. */
export function failureElsewhere(s: MachinesState): ReleaseFailure | undefined {
  const template = setOf(s)?.infrastructureTemplate ?? '';
  if (template === '') return undefined;
  const { kind, release } = identityOf(s.pool, template);
  return s.otherPools.failures.find((failure) => failure.kind === kind && failure.release === release);
}

/** Templates that the operator created have the same content if their names end with the same hash. */
function identityOf({ spec }: Pick<WindowsPool, 'spec'>, shown: string): Pick<ReleaseFailure, 'kind' | 'release'> {
  const { ref, template } = machinesIn(spec);
  const [kind = '', name = ''] = shown.split('/');
  const isOwn = template?.infrastructureTemplate !== undefined;
  return { kind, release: isOwn ? name.slice(ref.name.length + 1) : `${ref.namespace}/${name}` };
}
