/** The rules, evaluated outside the API server, for manifests in files and for objects of a cluster. */
import { Environment } from '@marcbachmann/cel-js';
import type { Grade, Rule } from './rule.ts';
import { VARIABLES } from './rule.ts';
import { IMAGE_RULES, RULES } from './rules.ts';

/** A violation of a rule. */
export interface Finding {
  /** The name of the rule. */
  readonly rule: string;
  readonly grade: Grade;
  /** The names of the containers or volumes that violate the rule; empty if it is about the pod. */
  readonly names: readonly string[];
  /** The same text as the warning of the API server: the rule, the names, the field, what happens, and what to do. */
  readonly message: string;
  readonly source: string;
}

/** What decides which images a pod or a template can run. */
export interface PodImages {
  readonly os: 'windows' | 'linux';
  /** The Windows build that its nodes have: `10.0.20348`; undefined if it selects none, or its containers do not share the kernel of the node. */
  readonly build: string | undefined;
  readonly containers: readonly { readonly name: string; readonly image: string }[];
}

/** The fields of a RuntimeClass that the rules read. */
export interface LintedRuntimeClass {
  readonly metadata: { readonly name: string };
  readonly handler: string;
  readonly scheduling?: { readonly nodeSelector?: Readonly<Record<string, string>> };
}

/** The path of the pod spec in each kind that has one. */
export const POD_SPEC_PATHS: Readonly<Record<string, readonly string[]>> = {
  Pod: ['spec'],
  Deployment: ['spec', 'template', 'spec'],
  ReplicaSet: ['spec', 'template', 'spec'],
  StatefulSet: ['spec', 'template', 'spec'],
  DaemonSet: ['spec', 'template', 'spec'],
  ReplicationController: ['spec', 'template', 'spec'],
  Job: ['spec', 'template', 'spec'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
};

type Fields = Readonly<Record<string, unknown>>;

const environment = new Environment({ enableOptionalTypes: true }).registerVariable('variables', 'dyn');
const programs = new Map<string, ReturnType<typeof environment.parse>>();

/**
 * The violations of a manifest, in the order of the rules; empty for kinds without a pod spec. The manifest need not have the defaults of the API
 * server. `runtimeClasses` are those of the cluster or of the same manifests: the one that a pod or a template names counts as part of its spec.
 * Parse YAML as version 1.1, like kubectl: `defaultMode: 0644` is an octal number.
 * Throws if the manifest is not an object with a kind, or if its pod spec does not have the types of the API, with the name of the rule.
 */
export function findingsOf(manifest: unknown, runtimeClasses: readonly LintedRuntimeClass[]): readonly Finding[] {
  const podSpec = podSpecOf(manifest);
  if (podSpec === undefined) return [];
  const variables = variablesOf(podSpec, runtimeClasses);
  const os = runsOnWindows(variables) ? 'windows' : 'linux';
  return RULES.filter((rule) => rule.for === os).flatMap((rule) => {
    try {
      return evaluate(rule.expression, variables) === true ? [findingOf(rule, variables)] : [];
    } catch (error) {
      throw new Error(`Rule ${rule.name} cannot read the pod spec: ${firstLine(error)}`, { cause: error });
    }
  });
}

/** The violations of a pod spec whose images do not fit a Windows build, as if it selected nodes of this build. Throws as `findingsOf`. */
export function imageFindingsOf(
  podSpec: object,
  build: string,
  runtimeClasses: readonly LintedRuntimeClass[],
): readonly Finding[] {
  return findingsOf(podOn(podSpec, build), runtimeClasses).filter(({ rule }) => IMAGE_RULES.includes(rule));
}

/** A pod with the spec that selects Windows nodes of a build. */
export function podOn(podSpec: object, build: string): object {
  const { nodeSelector: own } = podSpec as { readonly nodeSelector?: object };
  const nodeSelector = { ...own, 'kubernetes.io/os': 'windows', 'node.kubernetes.io/windows-build': build };
  return { kind: 'Pod', spec: { ...podSpec, nodeSelector } };
}

/** The operating system that a pod or a template is for. Throws as `findingsOf`; `linux` for kinds without a pod spec. */
export function operatingSystemOf(
  manifest: unknown,
  runtimeClasses: readonly LintedRuntimeClass[],
): 'windows' | 'linux' {
  const podSpec = podSpecOf(manifest);
  return podSpec !== undefined && runsOnWindows(variablesOf(podSpec, runtimeClasses)) ? 'windows' : 'linux';
}

/** What the variables of the rules say of a pod or a template on Windows. */
export interface WindowsFacts {
  /** The build that its nodeSelector or its RuntimeClass selects, or ''. */
  readonly build: string;
  readonly isHostProcess: boolean;
}

/** The facts about a pod or a template that is for Windows; undefined for others. Throws as `findingsOf`. */
export function windowsFactsOf(
  manifest: unknown,
  runtimeClasses: readonly LintedRuntimeClass[],
): WindowsFacts | undefined {
  const podSpec = podSpecOf(manifest);
  const variables = podSpec && variablesOf(podSpec, runtimeClasses);
  if (!variables || !runsOnWindows(variables)) return undefined;
  return { build: String(variables.selectedBuild), isHostProcess: variables.isHostProcess === true };
}

/** The labels of a pod or of the pods of a template; empty if there are none. */
export function podLabelsOf(manifest: object): Fields {
  const { kind } = manifest as Fields;
  const path = POD_SPEC_PATHS[String(kind)] ?? [];
  let value: unknown = manifest;
  for (const field of [...path.slice(0, -1), 'metadata', 'labels']) value = isFields(value) ? value[field] : undefined;
  return isFields(value) ? value : {};
}

/** The pod spec of a manifest, whatever its types; undefined for other kinds, and if there is none. */
export function rawPodSpecOf(manifest: unknown): Fields | undefined {
  const { kind } = isFields(manifest) ? manifest : {};
  const path = typeof kind === 'string' ? POD_SPEC_PATHS[kind] : undefined;
  let value: unknown = path && manifest;
  for (const field of path ?? []) value = isFields(value) ? value[field] : undefined;
  return isFields(value) ? value : undefined;
}

/** The RuntimeClass that a pod or a template names; undefined also for what is malformed. */
export function runtimeClassNameOf(manifest: unknown): string | undefined {
  const { runtimeClassName } = rawPodSpecOf(manifest) ?? {};
  return typeof runtimeClassName === 'string' ? runtimeClassName : undefined;
}

/** Whether the containers of a pod or a template share the kernel of the node, so that their images must be of its build. Throws as `findingsOf`. */
export function isProcessIsolated(manifest: unknown, runtimeClasses: readonly LintedRuntimeClass[]): boolean {
  const podSpec = podSpecOf(manifest);
  return podSpec !== undefined && variablesOf(podSpec, runtimeClasses).isProcessIsolated === true;
}

/** What decides which images a pod or a template can run. Throws as `findingsOf`; undefined for kinds without a pod spec. */
export function podImagesOf(manifest: unknown, runtimeClasses: readonly LintedRuntimeClass[]): PodImages | undefined {
  const podSpec = podSpecOf(manifest);
  if (podSpec === undefined) return undefined;
  const variables = variablesOf(podSpec, runtimeClasses);
  const { isProcessIsolated: sharesKernel, selectedBuild: build, containers } = variables;
  return {
    os: runsOnWindows(variables) ? 'windows' : 'linux',
    build: sharesKernel === true && typeof build === 'string' && /^10\.0\.\d+$/.test(build) ? build : undefined,
    containers: (containers as readonly Fields[]).flatMap(({ name, image }) =>
      typeof name === 'string' && typeof image === 'string' ? [{ name, image }] : [],
    ),
  };
}

/** The text of a violation, which starts with the name of the rule and of the containers or volumes. */
export function messageOf(rule: Pick<Rule, 'name' | 'message'>, names: readonly string[]): string {
  return `${rule.name}${names.length > 0 ? ` (${names.join(', ')})` : ''}: ${rule.message}.`;
}

function findingOf(rule: Rule, variables: Fields): Finding {
  const names = rule.names === undefined ? [] : (evaluate(rule.names, variables) as string[]).map(String);
  return { rule: rule.name, grade: rule.grade, names, message: messageOf(rule, names), source: rule.source };
}

function podSpecOf(manifest: unknown): Fields | undefined {
  const { kind } = isFields(manifest) ? manifest : {};
  if (typeof kind !== 'string') throw new Error('The manifest has no kind: pass one object of the Kubernetes API.');
  const path = POD_SPEC_PATHS[kind];
  if (!path) return undefined;
  const value = rawPodSpecOf(manifest) ?? {};
  if (!Array.isArray(value.containers))
    throw new Error(`${kind}: ${path.join('.')}.containers is missing or is not a list.`);
  const podSpec = asRead(value) as Fields;
  const problem = shapeProblem(podSpec);
  if (problem) throw new Error(`${kind}: ${path.join('.')}.${problem}.`);
  return podSpec;
}

/** The lists of objects that the rules read, and whether each object has a name. */
const LISTS: readonly (readonly [field: string, hasNames: boolean])[] = [
  ['containers', true],
  ['initContainers', true],
  ['ephemeralContainers', true],
  ['volumes', true],
  ['tolerations', false],
];
const OBJECTS = ['nodeSelector', 'securityContext', 'affinity', 'os'];

/** A field with another type than in the API; the API server rejects it, too. */
function shapeProblem(podSpec: Fields): string | undefined {
  const inLists = LISTS.flatMap(([field, hasNames]) => {
    const list = podSpec[field];
    if (list === undefined) return [];
    if (!Array.isArray(list)) return [`${field} is not a list`];
    return list.flatMap((item: unknown, index) => {
      if (!isFields(item)) return [`${field}[${index}] is not an object`];
      return hasNames && typeof item.name !== 'string' ? [`${field}[${index}].name is missing or is not a string`] : [];
    });
  });
  const inFields = OBJECTS.filter((field) => podSpec[field] !== undefined && !isFields(podSpec[field]));
  return inLists[0] ?? inFields.map((field) => `${field} is not an object`)[0];
}

function variablesOf(podSpec: Fields, runtimeClasses: readonly LintedRuntimeClass[]): Fields {
  const { runtimeClassName } = podSpec;
  const runtimeClass = runtimeClasses.find(({ metadata }) => metadata.name === runtimeClassName) ?? {};
  const variables: Record<string, unknown> = { podSpec, runtimeClass, isEphemeral: false };
  try {
    for (const { name, expression } of VARIABLES) variables[name] = evaluate(expression, variables);
    return variables;
  } catch (error) {
    throw new Error(`The pod spec cannot be read: ${firstLine(error)}`, { cause: error });
  }
}

function runsOnWindows({ isWindowsSpec, runtimeClass }: Fields): boolean {
  const { scheduling } = runtimeClass as Partial<LintedRuntimeClass>;
  return isWindowsSpec === true || scheduling?.nodeSelector?.['kubernetes.io/os'] === 'windows';
}

function evaluate(expression: string, variables: Fields): unknown {
  const program = programs.get(expression) ?? environment.parse(expression);
  programs.set(expression, program);
  return program({ variables });
}

/** As the API server reads it: null is absent, and a quantity in `resources` can be a number. */
function asRead(value: unknown, isInResources = false): unknown {
  if (isInResources && typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map((item) => asRead(item, isInResources));
  if (!isFields(value)) return value;
  const present = Object.entries(value).filter(([, field]) => field !== null && field !== undefined);
  return Object.fromEntries(present.map(([key, field]) => [key, asRead(field, isInResources || key === 'resources')]));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
