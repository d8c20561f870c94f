import type { Credentials } from './authentication.ts';
import type { KubeconfigOverrides } from './kubeconfigOverrides.ts';

export interface CredentialSource {
  /** Default: no kubeconfig; the pod's ServiceAccount is used. */
  readonly kubeconfigPath?: string | undefined;
  /** What replaces parts of the kubeconfig. */
  readonly overrides?: KubeconfigOverrides | undefined;
  /** The folder with the ServiceAccount's token and ca.crt. Default: where the kubelet mounts them. */
  readonly serviceAccountDir?: string | undefined;
}

/** Loads the kubeconfig or, without a path, the pod's ServiceAccount. Throws an error that says what to do if neither exists. */
export async function loadCredentials({
  kubeconfigPath,
  overrides,
  serviceAccountDir,
}: CredentialSource): Promise<Credentials> {
  // Loaded lazily: client-node reads kubeconfigs and takes 33 MB of memory, which a pod must not pay for.
  if (kubeconfigPath === undefined) {
    const { PodCredentials } = await import('./podCredentials.ts');
    return new PodCredentials(serviceAccountDir);
  }
  const { KubeconfigCredentials } = await import('./kubeconfigCredentials.ts');
  return new KubeconfigCredentials(kubeconfigPath, { overrides });
}
