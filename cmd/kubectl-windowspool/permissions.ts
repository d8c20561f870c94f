/** Whether the user has permissions, by the API server's SelfSubjectAccessReview. */
import type { V1SelfSubjectAccessReview } from '@kubernetes/client-node';
import { apiPath } from '../../controllers/kubernetes/paths.ts';
import type { Cluster } from './cluster.ts';

/** A permission; in all namespaces if none is given. A resource can have a subresource: `pods/eviction`. */
export interface Permission {
  readonly verb: string;
  readonly group?: string;
  readonly resource: string;
  readonly namespace?: string;
}

/** Those of the permissions that the user does not have, such as `patch nodes` or `create pods/eviction in namespace shop`. */
export async function missingPermissions(
  { client, signal }: Cluster,
  permissions: readonly Permission[],
): Promise<string[]> {
  const mayNot = async ({ verb, group = '', resource: path, namespace }: Permission): Promise<string[]> => {
    const [resource, subresource] = path.split('/');
    const resourceAttributes = {
      verb,
      group,
      resource,
      ...(subresource && { subresource }),
      ...(namespace !== undefined && { namespace }),
    };
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes },
    };
    const review = apiPath('authorization.k8s.io/v1', 'selfsubjectaccessreviews');
    const { status } = await client.request<V1SelfSubjectAccessReview>('POST', review, { body, signal });
    return status?.allowed ? [] : [`${verb} ${path}${namespace === undefined ? '' : ` in namespace ${namespace}`}`];
  };
  return (await Promise.all(permissions.map(mayNot))).flat();
}
