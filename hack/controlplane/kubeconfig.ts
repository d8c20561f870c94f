import { rename, writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';

export interface KubeconfigUser {
  readonly name: string;
  readonly token: string;
}

/** A kubeconfig (YAML) with one cluster, one user with a bearer token, and one context. `caData` is base64 PEM. */
export function kubeconfig(server: string, caData: string, user: KubeconfigUser): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'local', cluster: { server, 'certificate-authority-data': caData } }],
    users: [{ name: user.name, user: { token: user.token } }],
    contexts: [{ name: 'local', context: { cluster: 'local', user: user.name } }],
    'current-context': 'local',
  });
}

/** Writes a file that only its owner can read. The write is atomic. */
export async function writeSecretFile(path: string, content: string): Promise<void> {
  const partial = `${path}.${process.pid}.partial`;
  await writeFile(partial, content, { mode: 0o600 });
  await rename(partial, path);
}
