/** What a controller with webhooks needs that runs as a process of this machine. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { selfSigned } from '../../../cmd/operator/serving/selfSigned.ts';
import type { ControlPlane } from '../../../hack/controlplane/controlplane.ts';
import { freePort } from '../../../hack/controlplane/ports.ts';

interface WebhookServer {
  readonly port: number;
  readonly cert: string;
  /** Writes the certificate and its key into the folder, and returns the environment of the process. */
  readonly environment: (folder: string) => Promise<Readonly<Record<string, string>>>;
}

/** A free port, and a certificate of its own. */
export async function webhookServer({ adminKubeconfig }: ControlPlane): Promise<WebhookServer> {
  const port = await freePort();
  const { cert, key } = selfSigned([], Date.now());
  const environment = async (folder: string) => {
    for (const [name, text] of Object.entries({ 'tls.crt': cert, 'tls.key': key }))
      await writeFile(join(folder, name), text, { mode: 0o600 });
    return { KUBECONFIG: adminKubeconfig, HOME: folder, TMPDIR: folder };
  };
  return { port, cert, environment };
}
