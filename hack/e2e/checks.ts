/** The checks of a run before it changes anything. Each returns the error, or undefined. */
import { X509Certificate } from 'node:crypto';
import type { Access } from './answers.ts';
import type { Kubeconfig } from './kubectl.ts';
import type { Settings } from './settings.ts';

/** Checks that the credentials belong to the given account. `profile`: that of the operator; undefined: they are the caller's. */
export function accountError(
  account: string | undefined,
  { account: expected }: Pick<Settings, 'account'>,
  profile?: string,
): string | undefined {
  if (account === expected) return undefined;
  return profile === undefined
    ? `E2E_ACCOUNT is ${expected}, and your credentials belong to account ${account}. Switch credentials (AWS_PROFILE), or correct E2E_ACCOUNT.`
    : `E2E_ACCOUNT is ${expected}, and profile ${profile} belongs to account ${account}. Set E2E_OPERATOR_PROFILE to a profile of account ${expected}.`;
}

/** Credentials as the AWS SDK resolves them. */
export interface Credentials {
  readonly sessionToken?: string | undefined;
  readonly expiration?: Date | undefined;
  /** The features of the SDK that they come from: feature-ids.d.ts of @aws-sdk/types. */
  readonly $source?: object | undefined;
}

/** The SDK reads these once; it refreshes those of all other sources: credential-provider-env and resolveStaticCredentials of credential-provider-ini. */
const STATIC_SOURCES = ['CREDENTIALS_ENV_VARS', 'CREDENTIALS_PROFILE'];

/** How long credentials must be valid, and their owner. */
export interface CredentialsNeed {
  readonly neededMs: number;
  /** In epoch milliseconds. */
  readonly now: number;
  /** `Your credentials`, `The credentials of profile p`. */
  readonly whose: string;
}

const REMEDY =
  'Use a profile that the AWS SDK refreshes (IAM Identity Center, role_arn, or credential_process), or credentials that last longer.';

/** Checks that the credentials cannot expire before the end of a run, which would leave a node group that costs money. */
export function expiryError(credentials: Credentials, { neededMs, now, whose }: CredentialsNeed): string | undefined {
  const { expiration } = credentials;
  if (!isStatic(credentials) || expiration === undefined || expiration.getTime() - now >= neededMs) return undefined;
  const left = Math.max(0, Math.floor((expiration.getTime() - now) / 60_000));
  return `${whose} expire in ${left} min, and a run with its cleanup can take ${Math.ceil(neededMs / 60_000)} min. ${REMEDY}`;
}

/** A warning about temporary credentials that are not refreshed and have no known expiry. */
export function expiryWarning(credentials: Credentials, { neededMs, whose }: CredentialsNeed): string | undefined {
  if (!isStatic(credentials) || credentials.sessionToken === undefined || credentials.expiration) return undefined;
  return (
    `WARNING: ${whose} are temporary and do not say when they expire. If they expire within ${Math.ceil(neededMs / 60_000)} min, ` +
    `the cleanup can fail. ${REMEDY}`
  );
}

function isStatic({ $source = {} }: Credentials): boolean {
  const sources = Object.keys($source).filter((name) => name.startsWith('CREDENTIALS_'));
  return sources.length > 0 && sources.every((name) => STATIC_SOURCES.includes(name));
}

/** Whether the kubeconfig points to the cluster that EKS describes: by the certificate authority, as the operator checks it. */
export function kubeconfigError(
  config: Kubeconfig,
  caData: string,
  { clusterName, region }: Pick<Settings, 'clusterName' | 'region'>,
): string | undefined {
  const own = config.clusters[0]?.cluster?.['certificate-authority-data'] ?? '';
  if (own !== '' && fingerprint(own) === fingerprint(caData)) return undefined;
  return (
    `The current context of your kubeconfig, ${config['current-context']}, is not cluster ${clusterName}: its certificate authority differs. ` +
    `Switch to the cluster: aws eks update-kubeconfig --name ${clusterName} --region ${region}`
  );
}

function fingerprint(caData: string): string {
  try {
    return new X509Certificate(Buffer.from(caData, 'base64')).fingerprint256;
  } catch {
    return `not a certificate: ${caData}`;
  }
}

/** A Deployment of the operator, from `config/default` or the chart. */
export interface OperatorDeployment {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number };
}

/** Whether another operator runs: of two operators only the leader works, and it may not be the one under test. */
export function operatorError(deployments: readonly OperatorDeployment[]): string | undefined {
  const running = deployments.find(({ spec, status }) => spec?.replicas !== 0 || (status?.replicas ?? 0) > 0);
  if (running === undefined) return undefined;
  const { name, namespace } = running.metadata;
  return (
    `An operator runs in this cluster: Deployment ${namespace}/${name}. Use another cluster, or stop the operator for the run: ` +
    `kubectl --namespace ${namespace} scale deployment ${name} --replicas=0`
  );
}

/** Checks that there are no pools that the operator of the run would also reconcile. */
export function poolsError(pools: readonly string[]): string | undefined {
  if (pools.length === 0) return undefined;
  return `The operator of this run would also reconcile the WindowsPools that exist: ${pools.join(', ')}. Use a cluster without WindowsPools.`;
}

/**
 * Checks that no other nodes depend on the mapping of the node role in aws-auth: EKS removes it with the node group of the run, if no other managed node group uses
 * the role (https://docs.aws.amazon.com/eks/latest/userguide/delete-managed-node-group.html).
 * @param others the nodes in no managed node group; their roles are not known
 */
export function roleMappingError(roleArn: string, { access, usedBy, others }: RoleUse): string | undefined {
  const isMapped = Array.isArray(access.awsAuthGroups) && access.entryType === undefined;
  if (!isMapped || usedBy.length > 0 || others.length === 0) return undefined;
  return (
    `ConfigMap kube-system/aws-auth maps node role ${roleArn}, no managed node group uses the role, and nodes are in no managed node group: ${others.slice(0, 3).join(', ')}` +
    `${others.length > 3 ? ` and ${others.length - 3} more` : ''}. EKS removes the mapping when the run deletes its node group, and such nodes with this role are then no longer Ready. ` +
    'Set NODE_ROLE_NAME to a role that no other nodes use.'
  );
}

/**
 * Checks that nodes whose image is in the launch template can join a cluster without access entries, in which EKS does not map their role for Windows: it maps it
 * for nodes of Linux (https://github.com/aws/containers-roadmap/issues/2327).
 */
export function machineAccessError(
  roleArn: string,
  { awsAuthGroups }: RoleUse['access'],
  authenticationMode: string | undefined,
): string | undefined {
  if (authenticationMode !== 'CONFIG_MAP') return undefined;
  if (Array.isArray(awsAuthGroups) && awsAuthGroups.includes(WINDOWS_GROUP)) return undefined;
  return (
    `With E2E_MACHINE=1, the image is in the launch template, so EKS does not give node role ${roleArn} the access of Windows nodes, and the cluster has no access entries. ` +
    `Map the role with the group ${WINDOWS_GROUP} in ConfigMap kube-system/aws-auth (docs/how-to/custom-amis.md), or unset E2E_MACHINE.`
  );
}

const WINDOWS_GROUP = 'eks:kube-proxy-windows';

/** Who uses a node role. */
export interface RoleUse {
  readonly access: Pick<Access, 'entryType' | 'awsAuthGroups'>;
  /** The managed node groups that use it. */
  readonly usedBy: readonly string[];
  /** The nodes that are in no managed node group. */
  readonly others: readonly string[];
}

/** Checks that either all or none of the objects of a part exist: some belong to another installation, which the run would overwrite and then delete. */
export function mixtureError(what: string, all: readonly string[], existing: readonly string[]): string | undefined {
  if (existing.length === 0 || existing.length === all.length) return undefined;
  const missing = all.filter((name) => !existing.includes(name));
  return (
    `Only some objects of ${what} exist: ${existing.join(', ')}. Missing: ${missing.join(', ')}. ` +
    'Complete the installation that they belong to, or delete them.'
  );
}
