import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeSecretFile } from './kubeconfig.ts';

/** A user with a static token. */
export interface StaticUser {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Names and groups are from Kubernetes' bootstrap policy, except `cloud` and `kwok`, whose permissions are in rbac.yaml. */
export const builtInUsers: readonly StaticUser[] = [
  { name: 'admin', groups: ['system:masters'] },
  { name: 'cloud', groups: [] },
  { name: 'kwok', groups: [] },
  { name: 'system:kube-controller-manager', groups: [] },
  { name: 'system:kube-scheduler', groups: [] },
];

/** The folder that `--cert-dir` names, and the keys that sign ServiceAccount tokens. */
export interface KeyFiles {
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
}

/** Creates the key pair for ServiceAccount tokens, or reuses that of an earlier start. */
export async function serviceAccountKeys(pki: string): Promise<KeyFiles> {
  const files = { serviceAccountKey: join(pki, 'sa.key'), serviceAccountPublicKey: join(pki, 'sa.pub') };
  if (existsSync(files.serviceAccountKey) && existsSync(files.serviceAccountPublicKey)) return files;
  await mkdir(pki, { recursive: true, mode: 0o700 });
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeSecretFile(
    files.serviceAccountPublicKey,
    pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  );
  await writeSecretFile(files.serviceAccountKey, pair.privateKey.export({ type: 'sec1', format: 'pem' }).toString());
  return files;
}

/**
 * Writes the API server's token file and returns the tokens by user name. Users of an earlier start in the same folder keep their tokens,
 * so that their kubeconfigs remain valid.
 */
export async function staticTokens(path: string, users: readonly StaticUser[]): Promise<ReadonlyMap<string, string>> {
  const twice = users.find((user, index) => users.findIndex((other) => other.name === user.name) !== index);
  if (twice)
    throw new Error(`users: ${twice.name} is there twice. Choose another name; ${builtInNames()} are built in.`);
  const odd = users.find((user) => [user.name, ...user.groups].some((text) => text === '' || /[",\n]/.test(text)));
  if (odd)
    throw new Error(`users: ${JSON.stringify(odd)} has an empty name, or one with a comma, a quote or a line break.`);
  const known = existsSync(path) ? parseTokens(await readFile(path, 'utf8')) : new Map<string, string>();
  const tokens = new Map(users.map(({ name }) => [name, known.get(name) ?? randomBytes(24).toString('base64url')]));
  // Format: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file
  const lines = users.map(({ name, groups }) => [tokens.get(name), name, name, `"${groups.join(',')}"`].join(','));
  await writeSecretFile(path, `${lines.join('\n')}\n`);
  return tokens;
}

function parseTokens(csv: string): Map<string, string> {
  const rows = csv.split('\n').map((line) => line.split(','));
  return new Map(rows.flatMap(([token, name]) => (token && name ? [[name, token] as const] : [])));
}

function builtInNames(): string {
  return builtInUsers.map((user) => user.name).join(', ');
}
