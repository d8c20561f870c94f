/** Paths of the Kubernetes API: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris */

/** Which part of a resource a path names: all of it, one namespace, or one object. */
export interface Scope {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** (`apps/v1`, `deployments`, { namespace, name }) -> `/apis/apps/v1/namespaces/NAMESPACE/deployments/NAME`. The core group is `v1`. */
export function apiPath(apiVersion: string, resource: string, { namespace, name }: Scope = {}): string {
  const root = apiVersion.includes('/') ? '/apis' : '/api';
  const part = (prefix: string, value: string | undefined) =>
    value === undefined ? '' : `${prefix}/${encodeURIComponent(value)}`;
  return `${root}/${apiVersion}${part('/namespaces', namespace)}/${resource}${part('', name)}`;
}
