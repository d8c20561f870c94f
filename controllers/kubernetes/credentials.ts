import { X509Certificate } from 'node:crypto';

/** The address of an API server and the right to use it. */
export interface Credentials {
  /** Without a trailing slash. */
  readonly server: string;
  readonly proxyUrl: string | undefined;
  /** The namespace of the context or of the pod; undefined when neither says. */
  readonly namespace: string | undefined;
  /** As they are now: called before each request, so that what rotates shows. Rejects when there are none. */
  authenticate(): Promise<Authentication>;
}

/** What a request needs beside its path. */
export interface Authentication {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsOptions;
}

export interface TlsOptions {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

export interface CredentialSource {
  /** Absent: the pod's ServiceAccount. */
  readonly kubeconfigPath?: string | undefined;
  /** Where the pod's token and ca.crt are mounted. Default: where the kubelet mounts them. */
  readonly serviceAccountDir?: string | undefined;
}

/** Reads a kubeconfig, or finds the pod's ServiceAccount where no path is given. Throws with the next move when there is none. */
export async function loadCredentials({ kubeconfigPath, serviceAccountDir }: CredentialSource): Promise<Credentials> {
  // Each is loaded only where it is needed: client-node, which reads kubeconfigs, costs a pod 35 MB that it has no use for.
  if (kubeconfigPath === undefined) {
    const { PodCredentials } = await import('./podCredentials.ts');
    return new PodCredentials(serviceAccountDir);
  }
  const { KubeconfigCredentials } = await import('./kubeconfigCredentials.ts');
  return new KubeconfigCredentials(kubeconfigPath);
}

/**
 * The certificates of a PEM text, each as OpenSSL writes it and sorted, so that two bundles of the same authorities are the same
 * text. Throws when one cannot be read.
 */
export function normalisePem(pem: string): string {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  return certificates
    .map((certificate) => new X509Certificate(certificate).toString())
    .sort()
    .join('');
}
