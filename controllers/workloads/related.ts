/** Finds the objects that serve workloads on Windows, and what they violate. */
import { type Finding, messageOf, podLabelsOf, rawPodSpecOf, type WindowsFacts } from './lint.ts';
import { field, RELATED_RULES, type WindowsWorkload } from './relatedRules.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The kinds of objects about which there are rules. */
export const RELATED_KINDS: ReadonlySet<string> = new Set(RELATED_RULES.flatMap(({ kinds }) => kinds));

/** What the rules about related objects know of a workload: a manifest of a kind with a pod spec, and the facts about it. */
export function windowsWorkloadOf(manifest: object, facts: WindowsFacts): WindowsWorkload {
  const podSpec = rawPodSpecOf(manifest) ?? {};
  const volumes = listOf(podSpec.volumes);
  return {
    name: String(field(manifest, 'metadata', 'name') ?? field(manifest, 'metadata', 'generateName')),
    namespace: textOf(field(manifest, 'metadata', 'namespace')),
    labels: podLabelsOf(manifest),
    replicas: replicasOf(manifest),
    serviceAccount: textOf(podSpec.serviceAccountName) ?? textOf(podSpec.serviceAccount) ?? 'default',
    claims: textsOf(volumes.map((volume) => field(volume, 'persistentVolumeClaim', 'claimName'))),
    claimTemplates: [
      ...listOf(field(manifest, 'spec', 'volumeClaimTemplates')).map((claim) => field(claim, 'spec')),
      ...volumes.map((volume) => field(volume, 'ephemeral', 'volumeClaimTemplate', 'spec')),
    ].filter(isFields),
    secretProviders: textsOf(volumes.map((volume) => field(volume, 'csi', 'volumeAttributes', 'secretProviderClass'))),
    build: facts.build,
    isHostProcess: facts.isHostProcess,
    isRestricted: isRestricted(podSpec),
  };
}

/** The violations of an object of one of `RELATED_KINDS`, which may be malformed; `claims` are PersistentVolumeClaims. */
export function relatedFindingsOf(
  object: object,
  workloads: readonly WindowsWorkload[],
  claims: readonly object[],
): readonly Finding[] {
  const kind = String(field(object, 'kind'));
  const rules = RELATED_RULES.filter(({ kinds }) => kinds.includes(kind));
  const served = rules.length === 0 ? [] : workloads.filter((workload) => SERVES[kind]?.(object, workload, claims));
  if (served.length === 0) return [];
  const names = served.map(({ name }) => name);
  return rules
    .filter(({ violates }) => violates(object as Fields, served))
    .map((rule) => ({
      rule: rule.name,
      grade: rule.grade,
      names,
      message: messageOf(rule, names.length > MOST_NAMES ? [...names.slice(0, MOST_NAMES), '...'] : names),
      source: rule.source,
    }));
}

const MOST_NAMES = 5;

type Serves = (object: object, workload: WindowsWorkload, claims: readonly object[]) => boolean;

/** Whether an object of a kind serves a workload. */
const SERVES: Readonly<Record<string, Serves>> = {
  Service: (object, workload) => {
    const selector = field(object, 'spec', 'selector');
    return isIn(object, workload) && isFields(selector) && hasLabels(workload, selector) && size(selector) > 0;
  },
  NetworkPolicy: (object, workload) =>
    isIn(object, workload) && matches(workload, field(object, 'spec', 'podSelector') ?? {}),
  // Both selectors must match, and the labels of ServiceAccounts are unknown: https://github.com/aws/amazon-vpc-resource-controller-k8s
  SecurityGroupPolicy: (object, workload) =>
    isIn(object, workload) &&
    !isFields(field(object, 'spec', 'serviceAccountSelector')) &&
    matches(workload, field(object, 'spec', 'podSelector')),
  // The fields of AWS Controllers for Kubernetes, and below forProvider those of Crossplane.
  PodIdentityAssociation: (object, { namespace, serviceAccount }) => {
    const spec = field(object, 'spec', 'forProvider') ?? field(object, 'spec');
    return field(spec, 'namespace') === namespace && field(spec, 'serviceAccount') === serviceAccount;
  },
  SecretProviderClass: (object, workload) =>
    isIn(object, workload) && workload.secretProviders.includes(String(field(object, 'metadata', 'name'))),
  StorageClass: (object, workload, claims) =>
    claimsOf(workload, claims).some((claim) => field(claim, 'storageClassName') === field(object, 'metadata', 'name')),
  PersistentVolume: (object, workload, claims) =>
    claimsOf(workload, claims).some((claim) => field(claim, 'volumeName') === field(object, 'metadata', 'name')) ||
    (field(object, 'spec', 'claimRef', 'namespace') === workload.namespace &&
      workload.claims.includes(String(field(object, 'spec', 'claimRef', 'name')))),
  Namespace: (object, { namespace }) => field(object, 'metadata', 'name') === namespace,
};

function isIn(object: object, { namespace }: WindowsWorkload): boolean {
  return field(object, 'metadata', 'namespace') === namespace;
}

/** The specs of the claims of a workload. */
function claimsOf(workload: WindowsWorkload, claims: readonly object[]): readonly unknown[] {
  const named = claims.filter(
    (claim) => isIn(claim, workload) && workload.claims.includes(String(field(claim, 'metadata', 'name'))),
  );
  return [...workload.claimTemplates, ...named.map((claim) => field(claim, 'spec'))];
}

function hasLabels({ labels }: WindowsWorkload, wanted: Fields): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}

/** Whether a label selector selects the pods; false for what is malformed. */
function matches(workload: WindowsWorkload, selector: unknown): boolean {
  if (!isFields(selector)) return false;
  const { matchLabels } = selector;
  return (
    (!isFields(matchLabels) || hasLabels(workload, matchLabels)) &&
    listOf(selector.matchExpressions).every((expression) => {
      const value = workload.labels[String(field(expression, 'key'))];
      const isListed = listOf(field(expression, 'values')).includes(value);
      const results: Readonly<Record<string, boolean>> = {
        In: isListed,
        NotIn: !isListed,
        Exists: value !== undefined,
        DoesNotExist: value === undefined,
      };
      return results[String(field(expression, 'operator'))] ?? false;
    })
  );
}

/** A DaemonSet has as many pods as nodes, and Jobs are not served. */
function replicasOf(manifest: object): number {
  const kind = field(manifest, 'kind');
  if (kind === 'DaemonSet') return numberOf(field(manifest, 'status', 'desiredNumberScheduled')) ?? 0;
  return kind === 'Job' || kind === 'CronJob' ? 0 : (numberOf(field(manifest, 'spec', 'replicas')) ?? 1);
}

/** https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted: seccomp profiles and capabilities are not required of pods with os.name windows. */
function isRestricted(podSpec: Fields): boolean {
  if (field(podSpec, 'os', 'name') === 'windows') return true;
  const ofPod = field(podSpec, 'securityContext', 'seccompProfile');
  return [...listOf(podSpec.containers), ...listOf(podSpec.initContainers)].every((container) => {
    const context = field(container, 'securityContext');
    const hasDropped = listOf(field(context, 'capabilities', 'drop')).includes('ALL');
    return hasDropped && (field(context, 'seccompProfile') ?? ofPod) !== undefined;
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function textsOf(values: readonly unknown[]): readonly string[] {
  return values.filter((value) => typeof value === 'string');
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function size(fields: Fields): number {
  return Object.keys(fields).length;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
