/** A rule about pods on Windows nodes, and the variables that its CEL expressions read. */

/** `fails`: the pod does not start, or does not get what it asks for. `advice`: the pod runs, but a field has no effect or is a risk. */
export type Grade = 'fails' | 'advice';

/** A rule about a pod or a pod template. The admission policies, the documentation and the linter are made from the rules. */
export interface Rule {
  /** CamelCase, and unique. Warnings start with it. */
  readonly name: string;
  readonly grade: Grade;
  /** The operating system of the pods that the rule is for. */
  readonly for: 'windows' | 'linux';
  /** CEL over `variables`: true if the pod violates the rule. The Kubernetes API server and cel-js evaluate it with the same result. */
  readonly expression: string;
  /** CEL over `variables`: the names of the containers or volumes that violate it, for rules about containers or volumes. */
  readonly names?: string;
  /** The field, what happens on Windows, and what to do, without a period at the end. */
  readonly message: string;
  /** URL of the public documentation of this behavior. */
  readonly source: string;
  /** Also applies to the ephemeral containers that `kubectl debug` adds to a pod. */
  readonly ephemeral?: true;
  /** Reads the RuntimeClass, if the workload has one, so that it is evaluated together with it. */
  readonly readsRuntimeClass?: true;
}

/** The part of a rule about containers: `predicate` is CEL over `c`. */
export function inContainers(predicate: string): Pick<Rule, 'expression' | 'names' | 'ephemeral'> {
  return { ...among('containers', 'c', predicate), ephemeral: true };
}

/** The part of a rule about the security contexts of the pod and of its containers: `predicate` is CEL over `c`, which has a securityContext. */
export function inSecurityContexts(predicate: string): Pick<Rule, 'expression' | 'names' | 'ephemeral'> {
  return { ...among('securityContexts', 'c', predicate), ephemeral: true };
}

/** The part of a rule about volumes: `predicate` is CEL over `v`. */
export function inVolumes(predicate: string): Pick<Rule, 'expression' | 'names'> {
  return among('volumes', 'v', predicate);
}

function among(list: string, one: string, predicate: string): Pick<Rule, 'expression' | 'names'> {
  return {
    expression: `variables.${list}.exists(${one}, ${predicate})`,
    names: `variables.${list}.filter(${one}, ${predicate}).map(${one}, ${one}.name)`,
  };
}

/**
 * Whether a pod spec, the CEL variable `spec`, says that it runs on Windows: by os.name, nodeSelector, required node affinity, or windowsOptions, which Linux
 * nodes ignore. The EKS webhook and the kubelet also know the deprecated label beta.kubernetes.io/os.
 */
export const IS_WINDOWS_SPEC = [
  "spec.?os.?name.orValue('') == 'windows'",
  "(spec.?nodeSelector[?'kubernetes.io/os'].orValue('') != 'linux' && (spec.?securityContext.?windowsOptions.hasValue() || " +
    'spec.?containers.orValue([]).exists(c, c.?securityContext.?windowsOptions.hasValue())))',
  "spec.?nodeSelector[?'kubernetes.io/os'].orValue('').lowerAscii() == 'windows'",
  "spec.?nodeSelector[?'beta.kubernetes.io/os'].orValue('') == 'windows'",
  "spec.?nodeSelector[?'node.kubernetes.io/windows-build'].hasValue()",
  `(${requiredTerms('spec')}.size() > 0 && ${requiredTerms('spec')}.all(term, term.?matchExpressions.orValue([]).exists(e, ` +
    "(e.key in ['kubernetes.io/os', 'beta.kubernetes.io/os'] && (e.operator == 'In' && e.values.all(value, value == 'windows') || e.operator == 'NotIn' && 'linux' in e.values)) || " +
    "(e.key == 'node.kubernetes.io/windows-build' && e.operator in ['In', 'Exists']))))",
].join(' || ');

function requiredTerms(spec: string): string {
  return `${spec}.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([])`;
}

/** The containers of this handler have their own kernels, so that images of other builds run. The handler of an unknown RuntimeClass may be this one. */
const HYPER_V_HANDLER = 'runhcs-wcow-hypervisor';

/** A variable of the expressions of rules. */
export interface Variable {
  readonly name: string;
  readonly expression: string;
}

/**
 * The variables that are derived from three others: `podSpec`, the spec of the pod or of the template; `runtimeClass`, the RuntimeClass of the
 * pod or the template, or an empty map if it is unknown; `isEphemeral`, whether only the ephemeral containers are evaluated. Each may read those before it.
 */
export const VARIABLES: readonly Variable[] = [
  {
    name: 'isWindowsSpec',
    expression: `[variables.podSpec].exists(spec, ${IS_WINDOWS_SPEC})`,
  },
  {
    name: 'containers',
    expression:
      'variables.isEphemeral ? variables.podSpec.?ephemeralContainers.orValue([]) : variables.podSpec.containers + variables.podSpec.?initContainers.orValue([])',
  },
  {
    name: 'securityContexts',
    expression:
      "(variables.isEphemeral || !has(variables.podSpec.securityContext) ? dyn([]) : dyn([{'name': dyn('the pod'), 'securityContext': dyn(variables.podSpec.securityContext)}])) + " +
      'variables.containers.filter(c, has(c.securityContext))',
  },
  { name: 'volumes', expression: 'variables.podSpec.?volumes.orValue([])' },
  { name: 'requiredTerms', expression: requiredTerms('variables.podSpec') },
  {
    name: 'isHostProcess',
    expression:
      'variables.podSpec.?securityContext.?windowsOptions.?hostProcess.orValue(false) || ' +
      'variables.podSpec.containers.exists(c, c.?securityContext.?windowsOptions.?hostProcess.orValue(false))',
  },
  {
    name: 'isProcessIsolated',
    expression:
      '!variables.isHostProcess && (!has(variables.podSpec.runtimeClassName) || ' +
      `variables.runtimeClass.?handler.orValue('${HYPER_V_HANDLER}') != '${HYPER_V_HANDLER}')`,
  },
  {
    name: 'selectedOS',
    expression:
      "variables.podSpec.?nodeSelector[?'kubernetes.io/os'].orValue(variables.podSpec.?nodeSelector[?'beta.kubernetes.io/os'].orValue(" +
      "variables.runtimeClass.?scheduling.?nodeSelector[?'kubernetes.io/os'].orValue('')))",
  },
  {
    name: 'selectedBuild',
    expression:
      "variables.podSpec.?nodeSelector[?'node.kubernetes.io/windows-build'].orValue(" +
      "variables.runtimeClass.?scheduling.?nodeSelector[?'node.kubernetes.io/windows-build'].orValue(''))",
  },
];
