/** An image as a container runtime unpacks it, from an OCI layout, and its start with runc. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Outcome, runCommand } from '../../hack/controlplane/command.ts';
import type { Architecture } from '../../hack/image/pins.ts';

const TIMEOUT_MS = 120_000;

/** The configuration of an image, as in https://github.com/opencontainers/image-spec/blob/main/config.md. */
export interface ImageConfig {
  readonly created: string;
  readonly architecture: Architecture;
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Labels: Readonly<Record<string, string>>;
  };
}

/** A file of a layer. */
export interface ImageFile {
  /** As in `ls`: `-r--r--r--`. */
  readonly mode: string;
  /** `0/0`. */
  readonly owner: string;
  /** Without a leading slash. */
  readonly path: string;
}

/** Unpacks the image of an architecture in the index of a layout into a new folder. Needs root, so that files keep their owners. */
export async function unpackImage(
  layout: string,
  architecture: Architecture,
  folder: string,
): Promise<{ readonly config: ImageConfig; readonly files: readonly ImageFile[] }> {
  const blob = (digest: string) => join(layout, 'blobs', digest.replace(':', '/'));
  const read = async (path: string) => JSON.parse(await readFile(path, 'utf8'));
  let descriptor = (await read(join(layout, 'index.json'))).manifests[0];
  const index = await read(blob(descriptor.digest));
  if (index.manifests)
    descriptor = index.manifests.find(
      (one: { platform: object }) => 'architecture' in one.platform && one.platform.architecture === architecture,
    );
  const manifest = await read(blob(descriptor.digest));
  const files: ImageFile[] = [];
  for (const { digest } of manifest.layers) {
    await run('tar', ['-xzpf', blob(digest), '--numeric-owner', '-C', folder]);
    const listing = await run('tar', ['-tvzf', blob(digest), '--numeric-owner']);
    for (const [, mode = '', owner = '', path = ''] of listing.stdout.matchAll(
      /^(\S+) +(\S+) +\d+ \S+ \S+ (.*?)(?: -> .*)?$/gm,
    ))
      files.push({ mode, owner, path: path.replace(/^\.?\//, '').replace(/\/$/, '') });
  }
  return { config: await read(blob(manifest.config.digest)), files };
}

export interface ContainerOptions {
  /** Default: the entrypoint of the image. */
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly uid: number;
  readonly gid: number;
  /** A file of this machine in the place of /etc/hosts, as the kubelet mounts it. */
  readonly hosts?: string;
}

/**
 * Runs the image's program as a pod of the security level `restricted` does, and with a read-only root file system: without capabilities, new
 * privileges and network. Needs root and runc.
 */
export async function runContainer(
  root: string,
  { config }: ImageConfig,
  bundle: string,
  { command = config.Entrypoint, args = [], uid, gid, hosts }: ContainerOptions,
): Promise<Outcome> {
  const spec = {
    ociVersion: '1.0.2',
    root: { path: root, readonly: true },
    process: {
      user: { uid, gid },
      args: [...command, ...args],
      env: config.Env,
      cwd: '/',
      capabilities: { bounding: [], effective: [], permitted: [] },
      noNewPrivileges: true,
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      ...(hosts ? [{ destination: '/etc/hosts', type: 'bind', source: hosts, options: ['rbind', 'ro'] }] : []),
    ],
    linux: {
      namespaces: ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      resources: { memory: { limit: 200 * 1024 * 1024 } },
    },
  };
  await writeFile(join(bundle, 'config.json'), JSON.stringify(spec));
  const name = `windowspool-image-${process.pid}`;
  try {
    return await runCommand('runc', ['--root', join(bundle, 'state'), 'run', '--bundle', bundle, name], {
      timeoutMs: TIMEOUT_MS,
    });
  } finally {
    await runCommand('runc', ['--root', join(bundle, 'state'), 'delete', '--force', name], { timeoutMs: TIMEOUT_MS });
    await rm(join(bundle, 'state'), { recursive: true, force: true });
  }
}

/** Runs a command, and throws if it fails. */
export async function run(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Outcome> {
  const outcome = await runCommand(program, args, { ...options, timeoutMs: TIMEOUT_MS });
  if (outcome.code !== 0)
    throw new Error(`${program} ${args.join(' ')} ended with status ${outcome.code}: ${outcome.stderr}`);
  return outcome;
}
