import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments, stringify } from 'yaml';
import type { Layout } from './components.ts';
import { serviceAccountKeys } from './identities.ts';

/** Users, requests, objects and results. For evictions also the request, which has the grace period. */
const defaultAuditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Request', resources: [{ group: '', resources: ['pods/eviction'] }] }, { level: 'Metadata' }],
} as const;

export interface LayoutOptions {
  readonly dir?: string | undefined;
  readonly auditPolicy?: object | undefined;
  readonly kwokSpeed?: number | undefined;
}

interface Stage {
  readonly spec: { delay?: { durationMilliseconds: number; jitterDurationMilliseconds: number } };
}

const stagesFile = fileURLToPath(new URL('kwok.yaml', import.meta.url));

/** Creates the folder of a control plane with everything that must exist before etcd starts. */
export async function makeLayout(options: LayoutOptions): Promise<{ layout: Layout; temporary: boolean }> {
  const stages = speedUp(await readFile(stagesFile, 'utf8'), options.kwokSpeed ?? 1);
  const temporary = options.dir === undefined;
  const dir =
    options.dir === undefined ? await mkdtemp(join(tmpdir(), 'windowspool-controlplane-')) : resolve(options.dir);
  const pki = join(dir, 'pki');
  for (const folder of ['logs', 'kubeconfig', 'etcd']) await mkdir(join(dir, folder), { recursive: true, mode: 0o700 });
  const layout: Layout = {
    dir,
    pki,
    auditLog: join(dir, 'logs', 'audit.log'),
    auditPolicy: join(dir, 'audit-policy.yaml'),
    tokens: join(dir, 'tokens.csv'),
    ...(await serviceAccountKeys(pki)),
    serverCert: join(pki, 'apiserver.crt'),
    serverKey: join(pki, 'apiserver.key'),
    ca: join(pki, 'ca.crt'),
    kwokConfig: join(dir, 'kwok.yaml'),
    // Encoded, so that no two names share a file and none leaves the folder.
    kubeconfig: (name) => join(dir, 'kubeconfig', `${encodeURIComponent(name)}.yaml`),
    podCredentials: (name) => join(dir, 'pods', encodeURIComponent(name)),
  };
  await writeFile(layout.auditPolicy, stringify(options.auditPolicy ?? defaultAuditPolicy));
  await writeFile(layout.kwokConfig, stages);
  return { layout, temporary };
}

/** Divides the delays of kwok's stages (YAML documents) by `speed`. */
export function speedUp(stages: string, speed: number): string {
  if (!(speed > 0 && Number.isFinite(speed)))
    throw new Error(`kwokSpeed is ${speed}. Give a number above 0; 1 is as a kubelet does.`);
  const documents = parseAllDocuments(stages).map((document) => document.toJS() as Stage);
  for (const { spec } of documents) {
    if (!spec.delay) continue;
    spec.delay.durationMilliseconds = Math.max(1, Math.round(spec.delay.durationMilliseconds / speed));
    spec.delay.jitterDurationMilliseconds = Math.max(1, Math.round(spec.delay.jitterDurationMilliseconds / speed));
  }
  return documents.map((document) => stringify(document)).join('---\n');
}

/** The last certificate of the API server's own file: the authority that signed the first (PEM). */
export function lastCertificate(pem: string): string {
  const all = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const last = all.at(-1);
  if (all.length < 2 || !last)
    throw new Error(
      `Expected the server's certificate and its authority's in one file, found ${all.length} certificates.`,
    );
  return `${last}\n`;
}
