/** A watch of one ConfigMap, by a field selector: the operator needs permissions for this ConfigMap only. */
import type { V1ConfigMap } from '@kubernetes/client-node';
import type { Identity, ListWatch } from '../runtime/ports.ts';
import type { InstancesConfigMap } from '../windowspool/api/api.gen.ts';
import type { CallError } from '../windowspool/ports/callResult.ts';
import type { Hosts, InstanceLists } from '../windowspool/ports/nodes.ts';
import type { UserScripts } from '../windowspool/ports/prerequisites.ts';
import type { KubernetesClient } from './client.ts';
import { jsonDecoder } from './decoder.ts';
import { ignoreNotFound, toCallResult } from './errors.ts';
import { createListWatch, reportingListWatch } from './listWatch.ts';
import { recordIdentity, type Wire } from './objects.ts';
import { apiPath } from './paths.ts';
import { createReadSyntax, type ReadSyntax } from './scriptSyntax.ts';

/** The fields of a ConfigMap that the operator keeps. */
export interface ConfigMap {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly data: Readonly<Record<string, string>>;
}

export const configMapIdentity: Identity<ConfigMap> = recordIdentity;

function configMapOf({ metadata = {}, data = {} }: Wire<V1ConfigMap>): ConfigMap {
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    data,
  };
}

/** The port InstanceLists: reads a list from the API server on each call. @param hostsOf what look-ups of its entries last found */
export function createInstanceLists(
  client: KubernetesClient,
  hostsOf: (list: InstancesConfigMap) => Hosts | undefined = () => undefined,
): InstanceLists {
  return {
    read: ({ namespace, name }, signal) =>
      toCallResult(`get configmaps ${namespace}/${name}`, signal, async () => {
        const path = apiPath('v1', 'configmaps', { namespace, name });
        const found = await ignoreNotFound(client.request<V1ConfigMap>('GET', path, { signal }).then(configMapOf));
        const hosts = hostsOf({ namespace, name });
        return found ? { kind: 'seen', data: found.data, ...(hosts && { hosts }) } : { kind: 'absent' };
      }),
  };
}

/** The port UserScripts: reads a script from the API server on each call. */
export function createUserScripts(
  client: KubernetesClient,
  namespace: string,
  readSyntax: ReadSyntax = createReadSyntax(),
): UserScripts {
  return {
    read: ({ configMap, key }, signal) =>
      toCallResult(`get configmaps ${namespace}/${configMap}`, signal, async () => {
        const path = apiPath('v1', 'configmaps', { namespace, name: configMap });
        const found = await ignoreNotFound(client.request<V1ConfigMap>('GET', path, { signal }));
        const { data = {}, binaryData = {} } = found ?? {};
        const text = Object.hasOwn(data, key) ? data[key] : undefined;
        const syntax = text === undefined ? undefined : await readSyntax(text);
        return {
          namespace,
          keys: found && Object.keys(data).sort(),
          text,
          isBinary: text === undefined && Object.hasOwn(binaryData, key),
          ...(syntax && { syntax }),
        };
      }),
  };
}

/** @param onResult receives the error of a list or watch that failed, and undefined after a success */
export function configMapListWatch(
  client: KubernetesClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  onResult: (error?: CallError) => void,
): ListWatch<ConfigMap> {
  const source = createListWatch({
    client,
    path: apiPath('v1', 'configmaps', { namespace }),
    decoder: jsonDecoder(configMapOf),
    fieldSelector: `metadata.name=${name}`,
  });
  return reportingListWatch(source, `watch configmaps ${namespace}/${name}`, onResult);
}
