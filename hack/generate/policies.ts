/** The ValidatingAdmissionPolicies of config/policies and the table of docs/how-to/lint-workloads.md, from the rules of controllers/workloads. */
import { readFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { MANAGED_BY, MANAGED_BY_LABEL } from '../../controllers/windowspool/api/labels.ts';
import { messageOf } from '../../controllers/workloads/lint.ts';
import { RELATED_RULES } from '../../controllers/workloads/relatedRules.ts';
import { type Grade, IS_WINDOWS_SPEC, type Rule, VARIABLES } from '../../controllers/workloads/rule.ts';
import { RULES } from '../../controllers/workloads/rules.ts';
import { withTable } from './table.ts';

const PAGE = 'docs/how-to/lint-workloads.md';
const FOLDER = 'config/policies';

/** How a policy knows that a workload is for it. */
type Scope = 'windows' | 'runtimeClass' | 'linux';

interface Policy {
  readonly name: string;
  readonly grade: Grade;
  readonly scope: Scope;
}

const POLICIES: readonly Policy[] = [
  { name: 'windowspool-workloads-fails', grade: 'fails', scope: 'windows' },
  { name: 'windowspool-workloads-fails-by-class', grade: 'fails', scope: 'runtimeClass' },
  { name: 'windowspool-workloads-advice', grade: 'advice', scope: 'windows' },
  { name: 'windowspool-workloads-advice-by-class', grade: 'advice', scope: 'runtimeClass' },
  { name: 'windowspool-workloads-advice-linux', grade: 'advice', scope: 'linux' },
];

const ABOUT: Readonly<Record<Scope, string>> = {
  windows: 'Pods and templates that select Windows nodes by os.name, nodeSelector or node affinity.',
  runtimeClass:
    'Templates with a RuntimeClass of the operator: the API server adds its nodeSelector only to pods. And the images of pods with such a RuntimeClass.',
  linux: 'Pods and templates that do not select Windows nodes, and can start there.',
};

/** The generated files, by path. */
export function policyFiles(): Record<string, () => Promise<string> | string> {
  const objects = POLICIES.flatMap((policy) => {
    const file = policy.name.replace('windowspool-workloads-', '').replaceAll('-', '_');
    return [
      [`${FOLDER}/${file}.yaml`, () => document(policyOf(policy), ABOUT[policy.scope])],
      [`${FOLDER}/${file}_binding.yaml`, () => document(bindingOf(policy))],
    ] as const;
  });
  return { ...Object.fromEntries(objects), [PAGE]: async () => withRules(await readFile(PAGE_URL, 'utf8')) };
}

const PAGE_URL = new URL(`../../${PAGE}`, import.meta.url);

function document(object: object, about?: string): string {
  const header = '# Generated from controllers/workloads by `make generate`. Do not edit.';
  return `${[header, ...(about ? [`# ${about}`] : [])].join('\n')}\n${stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

const PODS = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE', 'UPDATE'] };
const DEBUG = { ...PODS, resources: ['pods/ephemeralcontainers'], operations: ['UPDATE'] };
const TEMPLATES = [
  { ...PODS, resources: ['replicationcontrollers'] },
  { ...PODS, apiGroups: ['apps'], resources: ['deployments', 'replicasets', 'statefulsets', 'daemonsets'] },
  { ...PODS, apiGroups: ['batch'], resources: ['jobs', 'cronjobs'] },
];

const RESOURCE = 'request.resource.resource';

/** The pod spec of an object. The types of the resources differ, so that only dyn avoids warnings of the type checker. */
const podSpecOf = (object: string): string =>
  `${RESOURCE} == 'pods' ? dyn(${object}).spec : ${RESOURCE} == 'cronjobs' ? dyn(${object}).spec.jobTemplate.spec.template.spec : dyn(${object}).spec.template.spec`;

function policyOf({ name, grade, scope }: Policy): object {
  const rules = RULES.filter((rule) => rule.grade === grade && rule.for === (scope === 'linux' ? 'linux' : 'windows'));
  const isWindows = `[${podSpecOf('object')}].exists(spec, ${IS_WINDOWS_SPEC})`;
  const conditions: Readonly<Record<Scope, string>> = {
    windows: isWindows,
    linux: `!${isWindows}`,
    runtimeClass: `[${podSpecOf('object')}].exists(spec, spec.?runtimeClassName.orValue('') == dyn(params).metadata.name)`,
  };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      // A pod must not fail because a rule cannot be evaluated.
      failurePolicy: 'Ignore',
      ...(scope === 'runtimeClass' && { paramKind: { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass' } }),
      matchConstraints: { resourceRules: [PODS, DEBUG, ...TEMPLATES] },
      matchConditions: [
        { name: 'changed', expression: `oldObject == null || (${podSpecOf('object')}) != (${podSpecOf('oldObject')})` },
        {
          // Kubernetes creates a ReplicaSet or a Job from a template that was evaluated before. Its pods are evaluated, so that Deny covers them.
          name: 'not-from-a-template',
          expression: `${RESOURCE} == 'pods' || !dyn(object).metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false))`,
        },
        { name: 'scope', expression: conditions[scope] },
      ],
      variables: [
        { name: 'podSpec', expression: podSpecOf('object') },
        { name: 'runtimeClass', expression: scope === 'runtimeClass' ? 'dyn(params)' : 'dyn({})' },
        { name: 'isEphemeral', expression: "has(request.subResource) && request.subResource == 'ephemeralcontainers'" },
        ...VARIABLES,
      ],
      validations: rules.map((rule) => validationOf(rule, scope)),
    },
  };
}

function validationOf(rule: Rule, scope: Scope): object {
  const { expression, names, ephemeral, readsRuntimeClass } = rule;
  const exempt = [
    ...(ephemeral || scope === 'runtimeClass' ? [] : ['variables.isEphemeral']),
    // The policy for pods and templates that select Windows nodes has found the other violations already.
    ...(scope === 'runtimeClass' && !readsRuntimeClass ? ['variables.isWindowsSpec'] : []),
  ];
  const [before = '', after = ''] = messageOf(rule, ['NAMES']).split('NAMES');
  return {
    expression: [...exempt, `!(${expression})`].join(' || '),
    message: messageOf(rule, []),
    ...(names && { messageExpression: `${quoted(before)} + ${names}.join(', ') + ${quoted(after)}` }),
  };
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function bindingOf({ name, scope }: Policy): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: {
      policyName: name,
      validationActions: ['Warn', 'Audit'],
      ...(scope === 'runtimeClass' && {
        paramRef: {
          selector: { matchLabels: { [MANAGED_BY_LABEL]: MANAGED_BY } },
          parameterNotFoundAction: 'Allow',
        },
      }),
    },
  };
}

/** The page with the tables of rules. */
function withRules(page: string): string {
  const rows = RULES.map(({ name, grade, message, source }) => [
    `\`${name}\``,
    grade,
    `${message}. [Source](${source})`,
  ]);
  const related = RELATED_RULES.map(({ name, grade, kinds, message, source }) => [
    `\`${name}\``,
    grade,
    kinds.join(', '),
    `${message}. [Source](${source})`,
  ]);
  const withPods = withTable(PAGE, page, 'rules', [['rule', 'grade', 'what happens, and what to do'], ...rows]);
  const header = ['rule', 'grade', 'object', 'what happens, and what to do'];
  return withTable(PAGE, withPods, 'related rules', [header, ...related]);
}
