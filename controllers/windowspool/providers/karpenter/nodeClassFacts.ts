/** What the EC2NodeClass of a pool needs from outside its spec: the ID of an AMI that the pool follows, and the script of a ConfigMap. */

import type { KarpenterSpec, NodeClassSpec, WindowsPool } from '../../api/api.gen.ts';
import { RETRY_ANNOTATION } from '../../api/labels.ts';
import { instanceTypesQuestion } from '../../checks/instanceTypes.ts';
import { accessEntryQuestion } from '../../checks/nodeAccess.ts';
import { roleArnOf } from '../../nodes/nodeRole.ts';
import { kubernetesMinor, yearOf } from '../../nodes/windowsVersions.ts';
import { LONG_MS } from '../../observation/sharedAnswers.ts';
import type { CallResult } from '../../ports/callResult.ts';
import { imageParameterOf } from '../../ports/eks.ts';
import { karpenterIn } from '../../rules/nodeSource.ts';
import { isDeleting } from '../../rules/poolQueries.ts';
import { readScript, scriptCommands, type UserScript } from '../../userData/userScript.ts';
import type { ObserveContext } from '../provider.ts';
import { recordIn } from './dueObject.ts';
import { isOwned, type KarpenterState, type NodeClassFacts, objectIn, type Unresolved } from './karpenterState.ts';

/** What the spec of the EC2NodeClass has in their place. */
export interface ResolvedNodeClass {
  readonly ami: string;
  /** PowerShell commands without tags. */
  readonly userData?: string;
}

const AMI_ID = /^ami-[0-9a-f]{8,17}$/;

/** The SSM parameter whose value the pool follows; undefined: it has an AMI of its own, or the Kubernetes version is not known. */
export function parameterIn(
  { windowsVersion }: Pick<WindowsPool['spec'], 'windowsVersion'>,
  { ami, edition }: Pick<NodeClassSpec, 'ami' | 'edition'>,
  serverVersion: string | undefined,
): string | undefined {
  if (ami) return ami.ssmParameter;
  const minor = kubernetesMinor(serverVersion ?? '');
  return minor === undefined ? undefined : imageParameterOf(yearOf(windowsVersion), edition, `1.${minor}`);
}

/** The script that the spec names, if it names one. */
export function scriptOf({ userData }: Pick<NodeClassSpec, 'userData'>): UserScript | undefined {
  return userData && { ...userData, field: 'karpenter.nodeClass.userData' };
}

/** What was read for each pool, so that node events cause no calls outside the cluster, also while those calls fail. */
class NodeClassMemory {
  readonly #read = new Map<string, { readonly facts: NodeClassFacts; readonly key: string; readonly until: number }>();

  current(pool: WindowsPool, now: number): NodeClassFacts | undefined {
    const read = this.#read.get(pool.metadata.name);
    return read?.key === keyOf(pool) && now < read.until ? read.facts : undefined;
  }

  keep(pool: WindowsPool, facts: NodeClassFacts, until: number): void {
    this.#read.set(pool.metadata.name, { facts, key: keyOf(pool), until });
  }

  forget(pool: string): void {
    this.#read.delete(pool);
  }
}

/** What a user can change to have the facts read again. */
function keyOf({ metadata: { uid, generation, annotations } }: WindowsPool): string {
  return JSON.stringify([uid, generation, annotations?.[RETRY_ANNOTATION]]);
}

/** Reads the facts of a pool whose EC2NodeClass the operator creates, unless they were read a short time ago. */
export async function readNodeClassFacts(pool: WindowsPool, context: ObserveContext): Promise<NodeClassFacts> {
  const { readCache, settings, now } = context;
  const { nodeClass } = karpenterIn(pool.spec);
  if (!nodeClass || isDeleting(pool)) return {};
  const memory = readCache.of(NodeClassMemory);
  const known = memory.current(pool, now);
  if (known) return known;
  const facts = await askForFacts(pool, nodeClass, context);
  memory.keep(pool, facts, now + factsMs({ pool, nodeClassFacts: facts, settings }) / 2);
  return facts;
}

/** How long the facts are valid, in milliseconds: a change of a ConfigMap should not take long, nor should the end of an error. */
export function factsMs({
  pool,
  nodeClassFacts = {},
  settings: { pollMs, resyncMs },
}: Pick<KarpenterState, 'pool' | 'nodeClassFacts' | 'settings'>): number {
  const { nodeClass } = karpenterIn(pool.spec);
  const isFailed = Object.values(nodeClassFacts).some(({ ok }) => !ok);
  return nodeClass && (isFailed || nodeClass.userData) ? pollMs : resyncMs;
}

/** All pools share the answers. */
async function askForFacts(
  pool: WindowsPool,
  nodeClass: NodeClassSpec,
  { readCache, sources, settings, now, signal }: ObserveContext,
): Promise<NodeClassFacts> {
  const { pollMs } = settings;
  const ask = <T>(question: string, call: (asked: AbortSignal) => Promise<CallResult<T>>, maxAgeMs = pollMs / 2) =>
    readCache.shared.get(question, maxAgeMs, now, call, signal);
  const parameter = parameterIn(pool.spec, nodeClass, sources.serverVersion());
  const script = scriptOf(nodeClass);
  const types = instanceTypesIn(karpenterIn(pool.spec));
  const [ami, text, cluster, instanceTypes] = await Promise.all([
    parameter && ask(`AMI in ${parameter}`, (asked) => sources.images.idIn(parameter, asked)),
    script && ask(`script ${script.configMap}/${script.key}`, (asked) => sources.userScripts.read(script, asked)),
    ask('cluster', (asked) => sources.clusters.describe(asked)),
    types.length > 0 &&
      ask(instanceTypesQuestion(types), (asked) => sources.capacity.instanceTypes(types, asked), LONG_MS),
  ]);
  const eks = cluster.ok ? cluster.value : undefined;
  const role = eks && roleArnOf(nodeClass.role, eks);
  const [accessEntry, roleMappings] = await Promise.all([
    role &&
      eks.authenticationMode !== 'CONFIG_MAP' &&
      ask(accessEntryQuestion(role), (asked) => sources.accessEntries.find(role, asked)),
    role &&
      eks.authenticationMode !== 'API' &&
      ask('ConfigMap aws-auth', (asked) => sources.system.roleMappings(asked)),
  ]);
  return {
    cluster,
    ...(ami && { ami }),
    ...(text && { script: text }),
    ...(instanceTypes && { instanceTypes }),
    ...(accessEntry && { accessEntry }),
    ...(roleMappings && { roleMappings }),
  };
}

/** The instance types that the requirements allow, if they name them; sorted. */
export function instanceTypesIn({ requirements = [] }: Pick<KarpenterSpec, 'requirements'>): readonly string[] {
  const named = requirements.filter(({ key, operator }) => key === INSTANCE_TYPE_LABEL && operator === 'In');
  return [...new Set(named.flatMap(({ values = [] }) => values))].sort();
}

const INSTANCE_TYPE_LABEL = 'node.kubernetes.io/instance-type';

/** The values for the EC2NodeClass. What cannot be read stays as it is in the one that exists. */
export function resolveNodeClass(
  s: Pick<KarpenterState, 'pool' | 'karpenter' | 'nodeClassFacts'>,
  nodeClass: NodeClassSpec,
): ResolvedNodeClass | Unresolved {
  const live = recordIn(isOwned(s, 'EC2NodeClass') ? objectIn(s, 'EC2NodeClass')?.spec : undefined);
  const { ami: asked, script: source } = s.nodeClassFacts ?? {};
  const ami = nodeClass.ami?.id ?? amiOf(asked) ?? liveAmi(live);
  if (ami === undefined) return 'ami';
  const script = scriptOf(nodeClass);
  if (!script) return { ami };
  const found = source?.ok ? readScript(script, source.value) : undefined;
  if (found && 'script' in found) return { ami, userData: scriptCommands(found.script) };
  const { userData } = live;
  return typeof userData === 'string' ? { ami, userData } : 'userData';
}

/** The ID of the AMI in the parameter; undefined while there is none. */
export function amiOf(asked: NodeClassFacts['ami']): string | undefined {
  return asked?.ok && AMI_ID.test(asked.value ?? '') ? asked.value : undefined;
}

function liveAmi({ amiSelectorTerms }: Readonly<Record<string, unknown>>): string | undefined {
  const [term] = Array.isArray(amiSelectorTerms) ? amiSelectorTerms : [];
  const { id } = recordIn(term);
  return typeof id === 'string' ? id : undefined;
}
