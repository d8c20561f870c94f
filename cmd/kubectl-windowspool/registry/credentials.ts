/** The credentials for registries that the user has given to docker, podman or skopeo. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileProblem } from '../../../controllers/kubernetes/kubernetesError.ts';
import { foreignText } from '../../../controllers/windowspool/ports/foreignText.ts';
import { compact } from '../../../controllers/windowspool/util/words.ts';
import type { ImageReference } from './reference.ts';

/** `identity`: to be exchanged for a token, `registry`: a token for the registry itself. */
export type Credentials =
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  | { readonly kind: 'identity' | 'registry'; readonly token: string };

/** What credentials are read from. */
export interface CredentialSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** A file of `docker login`, `podman login` and so on. */
interface AuthFile {
  readonly auths?: Readonly<Record<string, AuthEntry | null>>;
  readonly credHelpers?: Readonly<Record<string, string>>;
  readonly credsStore?: string;
}

interface AuthEntry {
  readonly auth?: string;
  readonly username?: string;
  readonly password?: string;
  readonly identitytoken?: string;
  readonly registrytoken?: string;
}

const HELPER_MS = 30_000;
const HELPER_BYTES = 1024 ** 2;
/** What helpers print for a registry that they do not know: credentials/error.go of docker-credential-helpers. */
const NOT_FOUND = 'credentials not found';
/** The name of Docker Hub in files and for helpers. */
const HUB = 'https://index.docker.io/v1/';

/**
 * The credentials for an image; undefined if there are none. Of the files that exist, the first one with credentials for the image counts. Throws if a file or
 * a helper fails.
 */
export async function credentialsFor(
  image: ImageReference,
  sources: CredentialSources,
): Promise<Credentials | undefined> {
  for (const path of filesOf(sources.env)) {
    const file = await readAuthFile(path);
    const found = file && (await credentialsIn(file, image, sources));
    if (found) return found;
  }
  return undefined;
}

/** In the order of containers-auth.json(5), with the folder of the Docker CLI in place of its default if DOCKER_CONFIG is set. */
function filesOf({
  REGISTRY_AUTH_FILE,
  DOCKER_CONFIG,
  XDG_RUNTIME_DIR,
  XDG_CONFIG_HOME,
  HOME = homedir(),
}: CredentialSources['env']): string[] {
  return compact([
    REGISTRY_AUTH_FILE,
    XDG_RUNTIME_DIR && join(XDG_RUNTIME_DIR, 'containers', 'auth.json'),
    join(XDG_CONFIG_HOME || join(HOME, '.config'), 'containers', 'auth.json'),
    join(DOCKER_CONFIG || join(HOME, '.docker'), 'config.json'),
  ]);
}

async function readAuthFile(path: string): Promise<AuthFile | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    // The message of JSON.parse quotes the text, which has secrets.
    throw new Error(`${path} cannot be read: ${error instanceof SyntaxError ? 'it is not JSON' : fileProblem(error)}`);
  }
}

/** A helper for the registry first, then the helper for all registries, then the file itself, as the Docker CLI does. */
async function credentialsIn(
  { auths = {}, credHelpers = {}, credsStore }: AuthFile,
  image: ImageReference,
  sources: CredentialSources,
): Promise<Credentials | undefined> {
  const server = nameOf(image.registry) === 'docker.io' ? HUB : image.registry;
  const helper = lookUp(credHelpers, image) ?? credsStore;
  const found = helper ? await askHelper(helper, server, sources) : undefined;
  const entry = lookUp(auths, image);
  return found ?? (entry && credentialsOf(entry));
}

/** The entry of the longest part of the name of the image: `quay.io/shop/cart`, `quay.io/shop`, `quay.io`. */
function lookUp<T>(
  entries: Readonly<Record<string, T | null>>,
  { registry, repository }: ImageReference,
): T | undefined {
  const named = new Map(Object.entries(entries).map(([key, entry]) => [nameOf(key), entry]));
  for (let parts = [nameOf(registry), ...repository.split('/')]; parts.length > 0; parts = parts.slice(0, -1)) {
    const entry = named.get(parts.join('/'));
    if (entry) return entry;
  }
  return undefined;
}

/** `registry.example.com` of `https://registry.example.com/v1/`: keys have either form. */
function nameOf(key: string): string {
  const name = key.replace(/^https?:\/\//, '').replace(/\/(?:v[12]\/?)?$/, '');
  return name === 'index.docker.io' || name === 'registry-1.docker.io' ? 'docker.io' : name;
}

function credentialsOf({ auth, identitytoken, registrytoken, ...entry }: AuthEntry): Credentials | undefined {
  if (registrytoken) return { kind: 'registry', token: registrytoken };
  if (identitytoken) return { kind: 'identity', token: identitytoken };
  const [username, ...password] = auth ? Buffer.from(auth, 'base64').toString('utf8').split(':') : [entry.username];
  const secret = auth ? password.join(':') : entry.password;
  return username && secret ? { kind: 'password', username, password: secret } : undefined;
}

/** Runs `docker-credential-NAME get`: https://github.com/docker/docker-credential-helpers */
async function askHelper(
  name: string,
  server: string,
  { env, signal }: CredentialSources,
): Promise<Credentials | undefined> {
  const program = `docker-credential-${name}`;
  if (!/^[\w.-]+$/.test(name)) throw new Error(`${foreignText(program)} is not the name of a program`);
  const { promise, resolve } = Promise.withResolvers<{ readonly error: Error | null; readonly output: string }>();
  const options = {
    env: { ...env },
    signal,
    timeout: HELPER_MS,
    maxBuffer: HELPER_BYTES,
    killSignal: 'SIGKILL',
  } as const;
  const child = execFile(program, ['get'], options, (error, stdout, stderr) =>
    resolve({ error, output: error ? stdout || stderr : stdout }),
  );
  // A helper may end before it has read its input.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(server);
  const { error, output } = await promise;
  if (error && output.includes(NOT_FOUND)) return undefined;
  if (error) throw new Error(`${program} failed: ${helperProblem(error, output)}`);
  const { Username, Secret } = parsed(output, program);
  if (typeof Username !== 'string' || typeof Secret !== 'string' || Secret === '') return undefined;
  return Username === '<token>'
    ? { kind: 'identity', token: Secret }
    : { kind: 'password', username: Username, password: Secret };
}

function helperProblem(error: NodeJS.ErrnoException & { readonly killed?: boolean }, output: string): string {
  if (error.code === 'ENOENT') return 'it is not on PATH';
  if (error.killed) return `it did not respond within ${HELPER_MS / 1_000} s`;
  return foreignText(output.trim().split('\n', 1)[0] || 'it printed nothing');
}

function parsed(output: string, program: string): { readonly Username?: unknown; readonly Secret?: unknown } {
  try {
    return JSON.parse(output);
  } catch {
    throw new Error(`${program} did not print JSON`);
  }
}
