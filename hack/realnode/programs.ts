/** The programs of a real node that are built from Go modules. */
import { fileURLToPath } from 'node:url';
import { nodePrograms } from '../controlplane/binaries.ts';
import { ensurePrograms, type Log } from '../gobuild/find.ts';
import type { GoModule } from '../gobuild/program.ts';

const CONTAINERD = 'github.com/containerd/containerd/v2';
/** Without the snapshotters that need C libraries or devices. */
const CONTAINERD_TAGS = ['no_btrfs', 'no_devmapper', 'no_zfs'];

const containerdModule: GoModule<'containerd' | 'containerd-shim-runc-v2' | 'ctr'> = {
  dir: fileURLToPath(new URL('containerd', import.meta.url)),
  name: 'containerd',
  what: 'containerd, which runs the pods of a real node',
  programs: [
    { name: 'containerd', package: `${CONTAINERD}/cmd/containerd`, tags: CONTAINERD_TAGS, buildSeconds: 95 },
    {
      name: 'containerd-shim-runc-v2',
      package: `${CONTAINERD}/cmd/containerd-shim-runc-v2`,
      tags: CONTAINERD_TAGS,
      buildSeconds: 5,
    },
    { name: 'ctr', package: `${CONTAINERD}/cmd/ctr`, tags: CONTAINERD_TAGS, buildSeconds: 8 },
  ],
};

const ownModule: GoModule<'coredns' | 'pause'> = {
  dir: fileURLToPath(new URL('programs', import.meta.url)),
  name: 'node-programs',
  what: 'CoreDNS, and the process that holds the namespaces of a pod',
  programs: [
    { name: 'coredns', package: './coredns', buildSeconds: 60 },
    { name: 'pause', package: './pause', buildSeconds: 1 },
  ],
};

export type NodePrograms = Awaited<ReturnType<typeof ensureNodePrograms>>;

/** Finds or builds the programs of a real node: see `ensurePrograms`. */
export async function ensureNodePrograms(log: Log, signal?: AbortSignal) {
  return {
    ...(await nodePrograms(log, signal)),
    ...(await ensurePrograms(containerdModule, log, signal)),
    ...(await ensurePrograms(ownModule, log, signal)),
  };
}
