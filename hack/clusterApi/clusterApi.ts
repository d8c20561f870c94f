/** The core controllers of Cluster API, built from their Go module, and the manifests that they need. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { ensurePrograms, type Log } from '../gobuild/find.ts';
import { moduleFolder } from '../gobuild/moduleFolder.ts';
import type { GoModule } from '../gobuild/program.ts';

const CLUSTER_API = 'sigs.k8s.io/cluster-api';

const clusterApiModule: GoModule<'core'> = {
  dir: fileURLToPath(new URL('.', import.meta.url)),
  name: 'cluster-api',
  what: 'the core controllers of Cluster API',
  programs: [{ name: 'core', package: `${CLUSTER_API}/core`, buildSeconds: 100 }],
};

interface CoreObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** A CRD of Cluster API, whose conversion is at a Service, which does not exist on this machine. */
export interface CoreCrd extends CoreObject {
  readonly spec: object;
}

/** A configuration of the webhooks of the core controllers. They are at a Service, which does not exist on this machine. */
export interface CoreWebhooks extends CoreObject {
  readonly webhooks: readonly { readonly clientConfig: { readonly service: { readonly path: string } } }[];
}

/** The absolute path of the controllers, which are built if they are missing. */
export async function clusterApiPath(log: Log, signal?: AbortSignal): Promise<string> {
  return (await ensurePrograms(clusterApiModule, log, signal)).core;
}

/** The CRDs and the configurations of webhooks that belong to the controllers, as the module has them. */
export async function clusterApiManifests(
  signal?: AbortSignal,
): Promise<{ readonly crds: readonly CoreCrd[]; readonly webhooks: readonly CoreWebhooks[] }> {
  const config = join(await moduleFolder(clusterApiModule, CLUSTER_API, { signal }), 'core/config');
  const bases = join(config, 'crd/bases');
  const crds = (await readdir(bases)).map(async (file): Promise<CoreCrd> => {
    return parse(await readFile(join(bases, file), 'utf8'));
  });
  const documents = parseAllDocuments(await readFile(join(config, 'webhook/manifests.yaml'), 'utf8'));
  return { crds: await Promise.all(crds), webhooks: documents.map((document) => document.toJS() as CoreWebhooks) };
}
