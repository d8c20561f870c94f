/** What replaces parts of a kubeconfig, as the global flags of kubectl do: https://kubernetes.io/docs/reference/kubectl/kubectl/ */
import type { Cluster, Context, User } from '@kubernetes/client-node';

/** Each field has the name of its flag. */
export interface KubeconfigOverrides {
  /** Name of a context. */
  readonly context?: string | undefined;
  /** Name of a cluster of the kubeconfig. */
  readonly cluster?: string | undefined;
  /** Name of a user of the kubeconfig. */
  readonly user?: string | undefined;
  /** URL of the API server. */
  readonly server?: string | undefined;
  readonly tlsServerName?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  /** Path of a file. */
  readonly certificateAuthority?: string | undefined;
  /** Path of a file. */
  readonly clientCertificate?: string | undefined;
  /** Path of a file. */
  readonly clientKey?: string | undefined;
  /** Bearer token, which replaces all credentials of the user. */
  readonly token?: string | undefined;
  /** Who is impersonated: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation */
  readonly as?: string | undefined;
  readonly asGroup?: readonly string[] | undefined;
  readonly asUid?: string | undefined;
}

/** What a kubeconfig lists. */
export interface KubeconfigParts {
  readonly clusters: Cluster[];
  readonly users: User[];
  readonly contexts: Context[];
  readonly currentContext: string;
}

/** The name of what only the flags describe. */
const FLAGS = 'flags';

/** The kubeconfig with the overrides. Throws an error that lists the names if it does not have the context, the cluster or the user. */
export function withOverrides(parts: KubeconfigParts, overrides: KubeconfigOverrides, source: string): KubeconfigParts {
  if (Object.values(overrides).every((value) => value === undefined)) return parts;
  const { contexts, clusters, users } = parts;
  const currentContext = overrides.context ?? parts.currentContext;
  const context = contexts.find(({ name }) => name === currentContext);
  if (!context && overrides.context !== undefined) throw missing('context', overrides.context, contexts, source);
  const cluster = clusterWith(named('cluster', overrides.cluster, clusters, source), context, parts, overrides);
  if (!cluster) return { ...parts, currentContext };
  const user = userWith(
    named('user', overrides.user, users, source) ?? users.find(({ name }) => name === context?.user),
    overrides,
  );
  const chosen = { ...context, name: FLAGS, cluster: cluster.name, user: user.name };
  return { clusters: [cluster], users: [user], contexts: [chosen], currentContext: FLAGS };
}

/** The headers of the impersonated user. Throws if there are groups or a UID without a user. */
export function impersonationHeaders({
  as,
  asGroup = [],
  asUid,
}: KubeconfigOverrides): Record<string, string | string[]> {
  if (as === undefined) {
    if (asGroup.length > 0 || asUid !== undefined) throw new Error('--as-group and --as-uid require --as');
    return {};
  }
  return {
    'Impersonate-User': as,
    ...(asGroup.length > 0 && { 'Impersonate-Group': [...asGroup] }),
    ...(asUid !== undefined && { 'Impersonate-Uid': asUid }),
  };
}

function clusterWith(
  chosen: Cluster | undefined,
  context: Context | undefined,
  { clusters }: KubeconfigParts,
  { server, tlsServerName, insecureSkipTlsVerify, certificateAuthority: caFile }: KubeconfigOverrides,
): Cluster | undefined {
  const found = chosen ?? clusters.find(({ name }) => name === context?.cluster);
  const cluster = found ?? (server === undefined ? undefined : { name: FLAGS, server, skipTLSVerify: false });
  if (!cluster) return undefined;
  // As kubectl: another server does not inherit the server name, and another CA or none replaces that of the file.
  const { tlsServerName: known, caData: _, caFile: __, ...rest } = cluster;
  const name = tlsServerName ?? (server === undefined ? known : undefined);
  const isOtherTrust = insecureSkipTlsVerify === true || caFile !== undefined;
  return {
    ...(isOtherTrust ? rest : cluster),
    tlsServerName: name,
    ...(server !== undefined && { server: server.replace(/\/+$/, '') }),
    ...(isOtherTrust && { skipTLSVerify: insecureSkipTlsVerify === true }),
    ...(caFile !== undefined && { caFile }),
  } as Cluster;
}

function userWith(found: User | undefined, { token, clientCertificate, clientKey }: KubeconfigOverrides): User {
  const user = found ?? { name: FLAGS };
  if (token !== undefined)
    return { name: user.name, token, ...(user.impersonateUser && { impersonateUser: user.impersonateUser }) };
  const { certData, keyData, ...rest } = user;
  return {
    ...rest,
    ...(clientCertificate === undefined ? { certData } : { certFile: clientCertificate }),
    ...(clientKey === undefined ? { keyData } : { keyFile: clientKey }),
  } as User;
}

function named<T extends { readonly name: string }>(
  kind: string,
  name: string | undefined,
  all: readonly T[],
  source: string,
): T | undefined {
  if (name === undefined) return undefined;
  const found = all.find((each) => each.name === name);
  if (!found) throw missing(kind, name, all, source);
  return found;
}

function missing(kind: string, name: string, all: readonly { readonly name: string }[], source: string): Error {
  const names = all.map((each) => each.name).join(', ') || 'none';
  return new Error(`${source} has no ${kind} ${name}. Choose one of its ${kind}s: ${names}.`);
}
