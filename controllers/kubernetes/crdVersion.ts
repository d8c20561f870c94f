/** Whether the CRD in the cluster is of the release of the operator. */
import type { V1ObjectMeta } from '@kubernetes/client-node';
import type { KubernetesClient } from './client.ts';
import { apiPath } from './paths.ts';

const CRD = 'windowspools.winpool.dev';
/** The label of crds/windowspools.yaml with its release, as in the CRDs of cert-manager. */
const VERSION_LABEL = 'app.kubernetes.io/version';

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches: the schema has 200 KiB. */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

/** The release of the CRD, such as `0.1.0`; undefined if it has no such label. Throws if it does not exist, or may not be read. */
export async function readCrdVersion(client: KubernetesClient, signal: AbortSignal): Promise<string | undefined> {
  const path = apiPath('apiextensions.k8s.io/v1', 'customresourcedefinitions', { name: CRD });
  const options = { accept: METADATA_ONLY, signal };
  const { metadata } = await client.request<{ metadata?: V1ObjectMeta }>('GET', path, options);
  return metadata?.labels?.[VERSION_LABEL];
}

/**
 * What is lost if the CRD and the operator are of different minor releases, and the next step; undefined if they are of the same. Patch releases do not
 * change its fields (hack/release/README.md). A version that is not one of a release, such as the tag `latest`, is not compared.
 */
export function crdMismatch(crd: string | undefined, operator: string): string | undefined {
  const [ofCrd, ofOperator] = [minorOf(crd), minorOf(operator)];
  if (!ofCrd || !ofOperator) return undefined;
  const order = ofCrd[0] - ofOperator[0] || ofCrd[1] - ofOperator[1];
  if (order < 0)
    return `The CRD ${CRD} is of release ${crd}, and the operator of ${operator}. The API server drops the fields that this CRD does not have, and sets other defaults. Apply the CRD of release ${operator}.`;
  if (order > 0)
    return `The CRD ${CRD} is of release ${crd}, and the operator of ${operator}. The operator ignores the fields that it does not know. Upgrade the operator to release ${crd}.`;
  return undefined;
}

/** `[0, 1]` of `v0.1.3`. */
function minorOf(version: string | undefined): readonly [major: number, minor: number] | undefined {
  const [, major, minor] = /^v?(\d{1,4})\.(\d{1,4})\./.exec(version ?? '') ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor)];
}
