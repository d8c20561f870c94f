/** Whether pods can use group Managed Service Accounts: https://kubernetes.io/docs/tasks/configure-pod-container/configure-gmsa/ */
import type { V1MutatingWebhookConfigurationList } from '@kubernetes/client-node';
import { ignoreNotFound } from '../../controllers/kubernetes/errors.ts';
import { apiPath } from '../../controllers/kubernetes/paths.ts';
import { count, sentence } from '../../controllers/windowspool/util/words.ts';
import { type Check, checked } from './check.ts';
import type { Cluster } from './cluster.ts';

/** The name of both webhooks in the manifests of https://github.com/kubernetes-sigs/windows-gmsa. The name of their configurations is that of the release. */
const WEBHOOK = 'admission-webhook.windows-gmsa.sigs.k8s.io';
const CREDENTIAL_SPECS = 'gmsacredentialspecs.windows.k8s.io';
const PAGE = 'docs/how-to/gmsa.md';
/** More credential specs are not read: the check only counts them. */
const MOST = 500;

/** The part of a GMSACredentialSpec that the check reads. Anyone may have written it. */
export interface CredentialSpec {
  readonly credspec?: { readonly ActiveDirectoryConfig?: { readonly HostAccountConfig?: unknown } };
}

/** Which webhooks of gMSA the cluster has. */
export interface GmsaWebhooks {
  readonly mutating: boolean;
  readonly validating: boolean;
}

/** Checks gMSA, if the cluster knows GMSACredentialSpecs. */
export async function gmsaCheck(cluster: Cluster): Promise<Check> {
  return checked('gMSA', async () => {
    const query = { limit: String(MOST) };
    const list = cluster.get<{ items?: readonly CredentialSpec[] }>(
      apiPath('windows.k8s.io/v1', 'gmsacredentialspecs'),
      query,
    );
    const specs = await ignoreNotFound(list);
    if (!specs) return judgeGmsa(undefined, { mutating: false, validating: false });
    const [mutating, validating] = await Promise.all([
      hasWebhook(cluster, 'mutatingwebhookconfigurations'),
      hasWebhook(cluster, 'validatingwebhookconfigurations'),
    ]);
    return judgeGmsa(specs.items ?? [], { mutating, validating });
  });
}

async function hasWebhook(cluster: Cluster, resource: string): Promise<boolean> {
  const path = apiPath('admissionregistration.k8s.io/v1', resource);
  // Lists of both kinds have webhooks with names.
  const { items } = await cluster.get<V1MutatingWebhookConfigurationList>(path);
  return (items ?? []).some(({ webhooks }) => webhooks?.some(({ name }) => name === WEBHOOK));
}

/** The result for the credential specs and webhooks of a cluster; without the CRD, `specs` is undefined. */
export function judgeGmsa(specs: readonly CredentialSpec[] | undefined, webhooks: GmsaWebhooks): Omit<Check, 'name'> {
  if (!specs)
    return { result: 'SKIP', detail: `the CRD ${CREDENTIAL_SPECS} is not installed, so no pod can use a gMSA.` };
  const missing = [webhooks.mutating ? '' : 'mutating', webhooks.validating ? '' : 'validating'].filter(Boolean);
  if (missing.length > 0) {
    const subject = `no ${missing.join(' and no ')} webhook has the name ${WEBHOOK}`;
    const effect = webhooks.mutating
      ? 'any service account can use any credential spec'
      : 'pods with gmsaCredentialSpecName run without the identity of the gMSA';
    return { result: 'FAIL', detail: `${sentence(`${subject}, so ${effect}`)} Install windows-gmsa: see ${PAGE}.` };
  }
  const joined = specs.filter(({ credspec }) => !credspec?.ActiveDirectoryConfig?.HostAccountConfig).length;
  const found = `${count(specs.length, 'credential spec')} and both webhooks exist`;
  if (joined === 0) return { result: 'PASS', detail: found };
  const need = joined === 1 ? 'one needs' : `${joined} need`;
  return { result: 'PASS', detail: `${found}. Of these, ${need} nodes that are joined to the domain: see ${PAGE}.` };
}
