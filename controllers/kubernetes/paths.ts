/** Paths of the Kubernetes API: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris */

/** Which part of a resource a path names: all of it, one namespace, or one object. */
export interface Scope {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** As a segment of a path, these would name another resource. */
const NO_NAMES: readonly (string | undefined)[] = ['', '.', '..'];

/** (`apps/v1`, `deployments`, { namespace, name }) -> `/apis/apps/v1/namespaces/NAMESPACE/deployments/NAME`. The core group is `v1`. Throws for what no object can be called. */
export function apiPath(apiVersion: string, resource: string, { namespace, name }: Scope = {}): string {
  if (NO_NAMES.includes(namespace) || NO_NAMES.includes(name))
    throw new TypeError(
      `no object of ${resource} has the name ${JSON.stringify(name)} in namespace ${JSON.stringify(namespace)}`,
    );
  const root = apiVersion.includes('/') ? '/apis' : '/api';
  const part = (prefix: string, value: string | undefined) =>
    value === undefined ? '' : `${prefix}/${encodeURIComponent(value)}`;
  return `${root}/${apiVersion}${part('/namespaces', namespace)}/${resource}${part('', name)}`;
}
