/** `kubectl windowspool doctor`: checks what the operator and its pools require, as far as the permissions of the user allow. */
import type { V1DaemonSetList } from '@kubernetes/client-node';
import { Option } from 'commander';
import { checkApiServer } from '../../controllers/kubernetes/apiServerVersion.ts';
import { crdMismatch } from '../../controllers/kubernetes/crdVersion.ts';
import { ignoreNotFound } from '../../controllers/kubernetes/errors.ts';
import { epochOf } from '../../controllers/kubernetes/objects.ts';
import { apiPath } from '../../controllers/kubernetes/paths.ts';
import { API_VERSION } from '../../controllers/kubernetes/pools.ts';
import { createSystemObjects } from '../../controllers/kubernetes/systemObjects.ts';
import type { CheckState, WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { resolved } from '../../controllers/windowspool/conditions/references.ts';
import { checkSystem } from '../../controllers/windowspool/providers/nodeGroups.ts';
import { count, sentence } from '../../controllers/windowspool/util/words.ts';
import { type AwsFlags, eksStatus } from './awsPreview.ts';
import { type Check, checked, skipReason } from './check.ts';
import type { Cluster } from './cluster.ts';
import type { PluginCommand } from './command.ts';
import { EXIT, Failure, unlessForbidden } from './failure.ts';
import { outputOption } from './flags.ts';
import { gmsaCheck } from './gmsa.ts';
import {
  findOperator,
  OPERATOR,
  OPERATOR_NAMESPACE,
  type OperatorFlags,
  operatorLease,
  operatorNamespaceOption,
} from './operator.ts';
import { type OutputFormat, printResult } from './output.ts';
import { missingPermissions, type Permission } from './permissions.ts';
import { commandIn } from './poolReport.ts';
import type { Terminal } from './terminal.ts';
import { labelled, type Paint } from './text.ts';
import { crdVersionIn, operatorVersionOf } from './version.ts';

export interface DoctorFlags extends AwsFlags, OperatorFlags {
  readonly output?: OutputFormat;
}

/** A leader renews its lease several times within its duration. */
const DEFAULT_LEASE_SECONDS = 15;

/** Prints the checks, with those of one pool or of all. Fails if one of them fails. */
async function doctor(
  cluster: Cluster,
  terminal: Terminal,
  pool: string | undefined,
  flags: DoctorFlags,
  version: string,
): Promise<void> {
  // Without a cluster, every check would fail for the same reason.
  const checks = [await serverCheck(cluster)];
  const namespace = await namespaceToCheck(cluster, flags);
  const pools = pool === undefined ? undefined : [await cluster.pool(pool)];
  const usesAws = await mayUseAws(cluster, pools);
  checks.push(
    ...(
      await Promise.all([
        crdCheck(cluster, flags),
        deploymentCheck(cluster, namespace),
        leaseCheck(cluster, namespace),
        permissionChecks(cluster),
        usesAws ? systemChecks(cluster, flags) : [],
        exporterCheck(cluster),
        gmsaCheck(cluster),
        usesAws ? eksCheck(cluster, flags, version) : WITHOUT_AWS,
        poolChecks(cluster, pools),
      ])
    ).flat(),
  );
  printResult(terminal, flags.output, checks, (columns) => checkLines(checks, columns, terminal.paint));
  // The lines say what failed.
  if (checks.some(({ result }) => result === 'FAIL')) throw new Failure('', EXIT.failed);
}

/** The namespace of the flag, or that in which the operator is found, or else that of the manifests: the check of the Deployment then says that there is none. */
async function namespaceToCheck(cluster: Cluster, { operatorNamespace }: OperatorFlags): Promise<string> {
  if (operatorNamespace !== undefined) return operatorNamespace;
  const found = await unlessForbidden(findOperator(cluster, {}), undefined, 'The operator', []);
  return found?.metadata?.namespace ?? OPERATOR_NAMESPACE;
}

const COLORS = { PASS: 'good', FAIL: 'bad', SKIP: 'minor', NOTE: 'minor' } as const;
const INDENT = ' '.repeat(6);

/** The lines of the checks, and their number by result. */
export function checkLines(checks: readonly Check[], columns: number, paint: Paint): string[] {
  const number = (result: Check['result']) => checks.filter((check) => check.result === result).length;
  return [
    ...checks.flatMap(({ name, result, detail, fix }) => {
      const lines = labelled(`${paint(COLORS[result], result)}  `, INDENT.length, `${name}: ${detail}`, columns);
      return [...lines, ...(fix ? [`${INDENT}$ ${fix}`] : [])];
    }),
    '',
    `${number('PASS')} passed, ${number('FAIL')} failed, ${number('SKIP')} skipped${number('NOTE') > 0 ? `, ${count(number('NOTE'), 'note')}` : ''}`,
  ];
}

async function serverCheck({ client, signal }: Cluster): Promise<Check> {
  const name = 'API server';
  const version = await client.serverVersion(signal);
  const check = checkApiServer(version);
  if (check.kind === 'tooOld') return { name, result: 'FAIL', detail: check.message };
  return { name, result: 'PASS', detail: check.kind === 'untested' ? check.message : `Kubernetes ${version}` };
}

async function crdCheck(cluster: Cluster, flags: DoctorFlags): Promise<Check> {
  return checked('CRD', async () => {
    const found = await ignoreNotFound(cluster.get(`/apis/${API_VERSION}`));
    if (!found)
      return {
        result: 'FAIL',
        detail: `${API_VERSION} is not served. Install the operator.`,
        fix: 'kubectl apply -k config/default',
      };
    const { crd } = await crdVersionIn(cluster);
    const operator = operatorVersionOf(await unlessForbidden(findOperator(cluster, flags), undefined, '', []));
    const mismatch = operator && crdMismatch(crd ?? undefined, operator.version);
    return mismatch ? { result: 'FAIL', detail: mismatch } : { result: 'PASS', detail: `${API_VERSION} is served` };
  });
}

async function deploymentCheck(cluster: Cluster, namespace: string): Promise<Check> {
  return checked('Operator', async () => {
    const found = await findOperator(cluster, { operatorNamespace: namespace });
    if (!found)
      return {
        result: 'FAIL',
        detail: `No Deployment in namespace ${namespace} has the label app.kubernetes.io/name=${OPERATOR}. Install the operator, or set --operator-namespace.`,
        fix: 'kubectl get deployments --all-namespaces --selector app.kubernetes.io/name=windowspool-operator',
      };
    const { replicas = 1 } = found.spec ?? {};
    const { readyReplicas = 0 } = found.status ?? {};
    const detail = `${readyReplicas} of ${replicas} replicas of Deployment ${namespace}/${found.metadata?.name} are ready`;
    if (readyReplicas > 0) return { result: 'PASS', detail };
    const fix = `kubectl --namespace ${namespace} describe pods --selector app.kubernetes.io/name=${OPERATOR}`;
    return { result: 'FAIL', detail: sentence(detail), fix };
  });
}

async function leaseCheck(cluster: Cluster, namespace: string): Promise<Check> {
  return checked('Leader', async () => {
    const { spec } = (await operatorLease(cluster, namespace)) ?? {};
    const fix = `kubectl --namespace ${namespace} logs deployment/${OPERATOR} --tail 50`;
    if (!spec?.holderIdentity) return { result: 'FAIL', detail: 'No replica of the operator is the leader.', fix };
    const seconds = Math.round((cluster.client.now() - epochOf(spec.renewTime)) / 1_000);
    const isFresh = seconds <= (spec.leaseDurationSeconds ?? DEFAULT_LEASE_SECONDS);
    const detail = `${spec.holderIdentity} renewed its Lease ${seconds}s ago`;
    return isFresh ? { result: 'PASS', detail } : { result: 'FAIL', detail: `${detail}, so no replica leads.`, fix };
  });
}

const POOLS = { group: 'winpool.dev', resource: 'windowspools' } as const;

/** What the commands need. Reading is required, changing is not. */
const PERMISSIONS: readonly {
  readonly name: string;
  readonly commands: string;
  readonly required?: true;
  readonly permissions: readonly Permission[];
}[] = [
  {
    name: 'Your permission to read',
    commands: 'status, nodes and plan',
    required: true,
    permissions: [
      { verb: 'list', ...POOLS },
      { verb: 'list', resource: 'nodes' },
      { verb: 'list', resource: 'pods' },
    ],
  },
  {
    name: 'Your permission to change pools',
    commands: 'update, retry, pause and resume',
    permissions: [{ verb: 'patch', ...POOLS }],
  },
  {
    name: 'Your permission to change nodes',
    commands: 'replace and remove',
    permissions: [
      { verb: 'patch', resource: 'nodes' },
      { verb: 'list', group: 'policy', resource: 'poddisruptionbudgets' },
    ],
  },
];

async function permissionChecks(cluster: Cluster): Promise<Check[]> {
  return Promise.all(
    PERMISSIONS.map(({ name, commands, required, permissions }) =>
      checked(name, async () => {
        const missing = await missingPermissions(cluster, permissions);
        if (missing.length === 0) return { result: 'PASS', detail: `you can use ${commands}` };
        const detail = `you may not ${missing.join(', ')}, which ${commands} require.`;
        return { result: required ? 'FAIL' : 'SKIP', detail };
      }),
    ),
  );
}

async function systemChecks(
  { client, signal }: Cluster,
  { clusterName = client.server }: DoctorFlags,
): Promise<Check[]> {
  const results = await checkSystem(createSystemObjects(client), clusterName, signal);
  return results.map(({ check, severity, status, message }) =>
    status === 'Met' || status === 'Unread'
      ? { name: `Cluster, ${check.section}`, result: 'PASS', detail: 'met' }
      : checkOf('Cluster', { name: check.section, severity, status, message: sentence(message) }),
  );
}

/** The label of the chart prometheus-windows-exporter, which kube-prometheus-stack contains: https://github.com/prometheus-community/helm-charts */
const EXPORTER = 'app.kubernetes.io/name=prometheus-windows-exporter';

/** Whether the metrics exist that the alerts about memory and disks need. Nothing else needs them. */
async function exporterCheck(cluster: Cluster): Promise<Check> {
  return checked('windows_exporter', async () => {
    const query = { labelSelector: EXPORTER, limit: '1' };
    const { items } = await cluster.get<V1DaemonSetList>(apiPath('apps/v1', 'daemonsets'), query);
    const [found] = items ?? [];
    if (!found)
      return {
        result: 'SKIP',
        detail: `no DaemonSet has the label ${EXPORTER} of its chart. Other manifests have other labels: the alerts about memory and disks need its metrics, such as windows_memory_commit_limit.`,
      };
    const { desiredNumberScheduled = 0, numberReady = 0 } = found.status ?? {};
    const detail = `${numberReady} of ${desiredNumberScheduled} pods of DaemonSet ${found.metadata?.namespace}/${found.metadata?.name} are ready`;
    if (numberReady >= desiredNumberScheduled) return { result: 'PASS', detail };
    return {
      result: 'FAIL',
      detail: sentence(detail),
      fix: `kubectl get pods --all-namespaces --selector ${EXPORTER}`,
    };
  });
}

/** Whether a pool needs AWS, or the first pool, which does not exist yet, may. */
async function mayUseAws(cluster: Cluster, pools?: readonly WindowsPool[]): Promise<boolean> {
  const all = pools ?? (await cluster.pools().catch(() => []));
  return all.length === 0 || all.some(({ spec }) => spec.nodeGroup !== undefined);
}

const WITHOUT_AWS: Check = { name: 'EKS', result: 'SKIP', detail: 'no pool has a nodeGroup, so none needs AWS' };

async function eksCheck(cluster: Cluster, flags: DoctorFlags, version: string): Promise<Check> {
  return checked('EKS', async () => {
    const found = await eksStatus(cluster, flags, version);
    if ('skipped' in found) return { result: 'SKIP', detail: found.skipped };
    const detail = `EKS cluster ${found.name} is ${found.status}`;
    if (!found.isOurs)
      return {
        result: 'FAIL',
        detail: `${detail}, and it is not the cluster of your kubeconfig. Set --cluster-name and --region.`,
      };
    return { result: found.status === 'ACTIVE' ? 'PASS' : 'FAIL', detail };
  });
}

async function poolChecks(cluster: Cluster, pools?: readonly WindowsPool[]): Promise<Check[]> {
  try {
    return (pools ?? (await cluster.pools())).flatMap(checksOfPool);
  } catch (error) {
    return [{ name: 'Pools', result: 'SKIP', detail: skipReason(error) }];
  }
}

/** The checks of a pool that need attention, from its status. */
export function checksOfPool(pool: WindowsPool): Check[] {
  const { metadata, status } = pool;
  const name = `Pool ${metadata.name}`;
  const met = resolved(status?.conditions ?? []).find(({ type }) => type === 'PrerequisitesMet');
  if (!met || status?.observedGeneration !== metadata.generation)
    return [
      {
        name,
        result: 'FAIL',
        detail: 'the operator has not observed the current spec.',
        fix: `kubectl describe windowspool ${metadata.name}`,
      },
    ];
  const { checks = [] } = status;
  const isListed = checks.some(({ severity }) => severity !== 'Advice');
  const result = ({ True: 'PASS', False: 'FAIL', Unknown: 'SKIP' } as const)[met.status];
  return [...(isListed ? [] : [{ name, result, detail: met.message }]), ...checks.map((state) => checkOf(name, state))];
}

const RESULTS = { Required: 'FAIL', Warning: 'PASS', Advice: 'NOTE' } as const;

/** A check that needs attention, with the command in its message. */
function checkOf(subject: string, { name, severity, status, message }: Omit<CheckState, 'reason'>): Check {
  const [result, kind] = status === 'NotMet' ? [RESULTS[severity], severity] : (['SKIP', status] as const);
  const detail = kind === 'Required' ? message : `${kind}: ${message}`;
  const fix = commandIn(message);
  return { name: `${subject}, ${name}`, result, detail, ...(fix && { fix }) };
}

/** `kubectl windowspool doctor`. */
export const doctorCommand: PluginCommand<DoctorFlags> = {
  usage: 'doctor [pool]',
  group: 'Troubleshooting Commands',
  summary: 'Check what the operator and its pools require, and show the command that fixes it.',
  details: 'Checks what you may read. With AWS credentials, it also reads the EKS cluster.',
  examples: [
    ['Check the cluster, the operator and all pools', 'kubectl windowspool doctor'],
    ['Check the cluster, the operator and one pool', 'kubectl windowspool doctor web'],
    ['Check an operator in another namespace', 'kubectl windowspool doctor --operator-namespace=kube-system'],
    [
      'Name the EKS cluster before the first pool exists',
      'kubectl windowspool doctor --cluster-name=prod --region=eu-west-1',
    ],
  ],
  options: [
    operatorNamespaceOption(),
    new Option(
      '--cluster-name <name>',
      'Name of the EKS cluster. Default: the name in the status of a pool, or that of the operator.',
    ),
    new Option(
      '--region <name>',
      'AWS Region of the EKS cluster. Default: AWS_REGION, or the Region in the status of a pool or of the operator.',
    ),
    outputOption(),
  ],
  run: async ({ connect, terminal, version }, [pool], flags) => doctor(await connect(), terminal, pool, flags, version),
};
