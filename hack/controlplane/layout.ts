import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';

/** Users with a static token, and their groups. Names and groups are from Kubernetes' bootstrap policy, except `cloud` and `kwok`: see rbac.yaml. */
const USERS = {
  admin: 'system:masters',
  cloud: '',
  kwok: '',
  'system:kube-controller-manager': '',
  'system:kube-scheduler': '',
  // Of hack/realnode.
  coredns: '',
  'system:kube-proxy': '',
  'system:node:node-1': 'system:nodes',
  'system:node:node-2': 'system:nodes',
} as const;

/** The users of the kubelets of real nodes, by the number of the node. */
export const NODE_USERS = ['system:node:node-1', 'system:node:node-2'] as const satisfies readonly User[];

export const LOOPBACK = '127.0.0.1';

/** A user with a static token. */
export type User = keyof typeof USERS;

/** The address and the files of a control plane, as absolute paths. */
export type Layout = Awaited<ReturnType<typeof makeLayout>>;

/** Users, requests, objects and results. For evictions also the request, which has the grace period. */
const defaultAuditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Request', resources: [{ group: '', resources: ['pods/eviction'] }] }, { level: 'Metadata' }],
} as const;

interface LayoutOptions {
  readonly address?: string | undefined;
  readonly auditPolicy?: object | undefined;
  readonly kwokSpeed?: number | undefined;
}

interface Stage {
  readonly spec: { delay?: { durationMilliseconds: number; jitterDurationMilliseconds: number } };
}

/** Creates the temporary folder of a control plane with everything that must exist before etcd starts. */
export async function makeLayout(options: LayoutOptions = {}) {
  const { address = LOOPBACK, auditPolicy = defaultAuditPolicy, kwokSpeed = 1 } = options;
  const stages = speedUp(await readFile(new URL('kwok.yaml', import.meta.url), 'utf8'), kwokSpeed);
  // Readable only by its owner, like the files below.
  const dir = await mkdtemp(join(tmpdir(), 'windowspool-controlplane-'));
  const pki = join(dir, 'pki');
  const layout = {
    /** Of every server but etcd. */
    address,
    dir,
    logs: join(dir, 'logs'),
    auditLog: join(dir, 'logs', 'audit.log'),
    auditPolicy: join(dir, 'audit-policy.yaml'),
    /** The tokens in `tokensFile`, by the name of their user. */
    tokens: Object.fromEntries(
      Object.keys(USERS).map((user) => [user, randomBytes(24).toString('base64url')]),
    ) as Readonly<Record<User, string>>,
    tokensFile: join(dir, 'tokens.csv'),
    pki,
    serviceAccountKey: join(pki, 'sa.key'),
    serviceAccountPublicKey: join(pki, 'sa.pub'),
    /** Certificate and key that the API server creates at its first start; the other components also use them. */
    serverCert: join(pki, 'apiserver.crt'),
    serverKey: join(pki, 'apiserver.key'),
    /** The certificate authority that signed `serverCert`. */
    ca: join(pki, 'ca.crt'),
    kwokConfig: join(dir, 'kwok.yaml'),
    // Encoded, so that no two names share a file and none leaves the folder.
    kubeconfig: (name: string) => join(dir, 'kubeconfig', `${encodeURIComponent(name)}.yaml`),
    /** The folder of a ServiceAccount's token, for a process that stands in for a pod. */
    podCredentials: (account: string) => join(dir, 'pods', encodeURIComponent(account)),
  };
  for (const folder of ['logs', 'kubeconfig', 'pki']) await mkdir(join(dir, folder));
  await writeFile(layout.auditPolicy, stringify(auditPolicy));
  await writeFile(layout.kwokConfig, stages);
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeFile(layout.serviceAccountPublicKey, publicKey.export({ type: 'spki', format: 'pem' }));
  await writeFile(layout.serviceAccountKey, privateKey.export({ type: 'sec1', format: 'pem' }));
  // Format: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file
  const lines = Object.entries(USERS).map(
    ([user, group]) => `${layout.tokens[user as User]},${user},${user},${group}\n`,
  );
  await writeFile(layout.tokensFile, lines.join(''));
  return layout;
}

/** Divides the delays of kwok's stages (YAML documents) by `speed`. */
export function speedUp(stages: string, speed: number): string {
  const documents = parseAllDocuments(stages).map((document) => document.toJS() as Stage);
  for (const { spec } of documents) {
    if (!spec.delay) continue;
    spec.delay.durationMilliseconds = Math.max(1, Math.round(spec.delay.durationMilliseconds / speed));
    spec.delay.jitterDurationMilliseconds = Math.max(1, Math.round(spec.delay.jitterDurationMilliseconds / speed));
  }
  return documents.map((document) => stringify(document)).join('---\n');
}
