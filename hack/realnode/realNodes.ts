/**
 * Real Linux nodes for a local Kubernetes: containerd, kubelet, kube-proxy and CoreDNS as processes, and pods as containers of runc. Needs namespaces of its
 * own (see isolation.ts), and a control plane on their address.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CoreV1Api, DiscoveryV1Api, KubeConfig, type V1Node } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import { runOrThrow } from '../controlplane/command.ts';
import type { ControlPlane } from '../controlplane/controlplane.ts';
import { NODE_USERS } from '../controlplane/layout.ts';
import { Processes } from '../controlplane/processes.ts';
import { waitFor } from '../controlplane/wait.ts';
import type { Log } from '../gobuild/find.ts';
import { buildProgramImage, PAUSE_IMAGE, type ProgramImage } from './images.ts';
import { HOST_ADDRESS, podsCgroup } from './isolation.ts';
import {
  cniConfig,
  containerdConfig,
  corefile,
  DNS_ADDRESS,
  kubeletConfig,
  type NodeLayout,
  nodeLayout,
  POD_CIDR,
} from './node.ts';
import { ensureNodePrograms, type NodePrograms } from './programs.ts';

const START_TIMEOUT_MS = 60_000;
const COMMAND_TIMEOUT_MS = 120_000;
/** The label of images that the CRI plugin knows: internal/cri/labels in containerd. */
const TAKEN_OVER = 'io.cri-containerd.image=managed';

/** Starts `count` nodes and resolves when all of them are Ready. `log` gets a line for each program that is built, or exits unexpectedly. */
export async function startRealNodes(
  controlPlane: ControlPlane,
  count: number,
  log: Log = () => undefined,
  signal?: AbortSignal,
): Promise<RealNodes> {
  const cgroup = podsCgroup();
  if (cgroup === undefined)
    throw new Error('Real nodes need namespaces of their own: start the program with spawnIsolated.');
  const programs = await ensureNodePrograms(log, signal);
  const dir = join(controlPlane.dir, 'nodes');
  await mkdir(dir);
  const path = [...new Set(Object.values(programs).map(dirname)), process.env.PATH].join(':');
  const processes = new Processes({
    logDir: join(controlPlane.dir, 'logs'),
    remove: dir,
    env: { PATH: path, HOME: dir, TMPDIR: dir },
    log,
    signal,
  });
  const nodes = new RealNodes(controlPlane, programs, processes, dir, cgroup);
  try {
    await nodes.startDns();
    for (let number = 1; number <= count; number++) await nodes.startNode(number);
    await nodes.waitForReady();
    await nodes.startProxy();
    return nodes;
  } catch (error) {
    await nodes.stop();
    throw error;
  }
}

/** Running nodes: see {@link startRealNodes}. */
export class RealNodes {
  /** The folder of hosts.toml files, by which containerd finds registries: https://github.com/containerd/containerd/blob/main/docs/hosts.md */
  readonly registries: string;
  readonly #controlPlane: ControlPlane;
  readonly #programs: NodePrograms;
  readonly #processes: Processes;
  readonly #dir: string;
  readonly #cgroup: string;
  readonly #nodes: NodeLayout[] = [];
  #pauseImage: Promise<ProgramImage> | undefined;

  constructor(controlPlane: ControlPlane, programs: NodePrograms, processes: Processes, dir: string, cgroup: string) {
    this.#controlPlane = controlPlane;
    this.#programs = programs;
    this.#processes = processes;
    this.#dir = dir;
    this.#cgroup = cgroup;
    this.registries = join(dir, 'registries');
  }

  /** The names of the nodes. */
  get names(): string[] {
    return this.#nodes.map(({ name }) => name);
  }

  /** Starts CoreDNS behind the Service kube-dns. */
  async startDns(): Promise<void> {
    const folder = join(this.#dir, 'coredns');
    await mkdir(folder);
    await writeFile(
      join(folder, 'Corefile'),
      corefile(HOST_ADDRESS, await this.#controlPlane.kubeconfigForUser('coredns')),
    );
    await this.#processes.start({
      name: 'coredns',
      layer: 0,
      file: this.#programs.coredns,
      args: () => ['-conf', join(folder, 'Corefile')],
      healthy: () => responds(`http://${HOST_ADDRESS}:8080/health`),
      timeoutMs: START_TIMEOUT_MS,
    });
    await this.#createDnsService();
  }

  /** Starts a node. It may not be Ready yet. */
  async startNode(number: number): Promise<void> {
    const node = nodeLayout(number, this.#dir);
    const { name, dir, address } = node;
    const user = NODE_USERS[number - 1];
    if (user !== `system:node:${name}`)
      throw new Error(`There is no user for node ${number}: at most ${NODE_USERS.length} nodes can run.`);
    this.#nodes.push(node);
    await this.#configure(node);
    await runOrThrow('ip', ['address', 'add', `${address}/24`, 'dev', 'node0'], COMMAND_TIMEOUT_MS);
    await this.#processes.start({
      name: `containerd-${number}`,
      layer: 1,
      file: this.#programs.containerd,
      args: () => ['--config', join(dir, 'containerd.toml')],
      healthy: () =>
        this.#ctr(node, 'version').then(
          () => true as const,
          () => undefined,
        ),
      timeoutMs: START_TIMEOUT_MS,
    });
    this.#pauseImage ??= buildProgramImage({
      reference: PAUSE_IMAGE,
      program: this.#programs.pause,
      user: '65535:65535',
      folder: join(this.#dir, 'pause'),
    });
    await this.#import(node, (await this.#pauseImage).archive);
    await this.startKubelet(number);
  }

  /** Starts the kubelet of a node, after `stopKubelet`. */
  async startKubelet(number: number): Promise<void> {
    const { name, dir, address } = this.#node(number);
    const kubeconfig = await this.#controlPlane.kubeconfigForUser(NODE_USERS[number - 1] ?? 'admin');
    await this.#processes.start({
      name: `kubelet-${number}`,
      layer: 2,
      file: this.#programs.kubelet,
      args: () => [
        `--config=${join(dir, 'kubelet.yaml')}`,
        `--kubeconfig=${kubeconfig}`,
        `--root-dir=${dir}/kubelet`,
        `--cert-dir=${dir}/pki`,
        `--hostname-override=${name}`,
        `--node-ip=${address}`,
      ],
      healthy: () => responds(`http://${address}:10248/healthz`),
      timeoutMs: START_TIMEOUT_MS,
    });
  }

  /** Stops the kubelet of a node. Its pods continue to run. */
  async stopKubelet(number: number): Promise<void> {
    await this.#processes.stop(`kubelet-${number}`);
  }

  /** Starts kube-proxy, which makes the addresses of Services work on all nodes. The first node must be registered. */
  async startProxy(): Promise<void> {
    const proxy = await this.#controlPlane.kubeconfigForUser('system:kube-proxy');
    await this.#processes.start({
      name: 'kube-proxy',
      layer: 0,
      file: this.#programs['kube-proxy'],
      args: (port) => [
        `--kubeconfig=${proxy}`,
        '--proxy-mode=iptables',
        `--cluster-cidr=${POD_CIDR}`,
        `--healthz-bind-address=127.0.0.1:${port}`,
        `--hostname-override=${nodeLayout(1, '').name}`,
        // The machine's limits cannot be changed in a namespace.
        '--conntrack-max-per-core=0',
        '--conntrack-tcp-timeout-established=0',
        '--conntrack-tcp-timeout-close-wait=0',
      ],
      healthy: (port) => responds(`http://127.0.0.1:${port}/livez`),
      timeoutMs: START_TIMEOUT_MS,
    });
  }

  /** Imports an image archive into each node. */
  async importImage(archive: string): Promise<void> {
    for (const node of this.#nodes) await this.#import(node, archive);
  }

  /** Waits until all nodes are Ready. */
  async waitForReady(): Promise<void> {
    const api = this.#client().makeApiClient(CoreV1Api);
    const conditionOf = ({ status }: V1Node) => status?.conditions?.find(({ type }) => type === 'Ready');
    let last = '';
    for (const { name, number } of this.#nodes)
      await waitFor(
        async () => {
          const node = await api.readNode({ name }).catch(() => undefined);
          last = (node && conditionOf(node)?.message) ?? 'It is not registered.';
          return (node && conditionOf(node)?.status) === 'True';
        },
        {
          what: `node ${name} to be Ready`,
          timeoutMs: START_TIMEOUT_MS,
          explain: () => `${last}\n${this.#processes.logTail(`kubelet-${number}`)}`,
        },
      );
  }

  /** Stops the kubelets before containerd. Processes of pods end with the namespaces. */
  stop(): Promise<void> {
    return this.#processes.end();
  }

  /** CoreDNS runs in no pod, so the Service has no selector. */
  async #createDnsService(): Promise<void> {
    const metadata = { name: 'kube-dns', namespace: 'kube-system' };
    const ports = (['UDP', 'TCP'] as const).map((protocol) => ({ name: protocol.toLowerCase(), port: 53, protocol }));
    const core = this.#client().makeApiClient(CoreV1Api);
    await core.createNamespacedService({
      namespace: metadata.namespace,
      body: { metadata, spec: { clusterIP: DNS_ADDRESS, ports } },
    });
    await this.#client()
      .makeApiClient(DiscoveryV1Api)
      .createNamespacedEndpointSlice({
        namespace: metadata.namespace,
        body: {
          metadata: { ...metadata, labels: { 'kubernetes.io/service-name': metadata.name } },
          addressType: 'IPv4',
          endpoints: [{ addresses: [HOST_ADDRESS] }],
          ports,
        },
      });
  }

  async #configure(node: NodeLayout): Promise<void> {
    const { dir, number } = node;
    for (const folder of ['cni', 'pod-logs']) await mkdir(join(dir, folder), { recursive: true });
    await mkdir(this.registries, { recursive: true });
    await writeFile(join(dir, 'containerd.toml'), containerdConfig(node, this.registries));
    await writeFile(join(dir, 'cni', 'pods.conflist'), JSON.stringify(cniConfig(node)));
    const cgroup = join(this.#cgroup, String(number));
    await writeFile(join(dir, 'kubelet.yaml'), stringify(kubeletConfig(node, cgroup)));
    // The kubelet creates the cgroups below the root, but not the root.
    for (const hierarchy of await cgroupHierarchies()) await mkdir(join(hierarchy, cgroup), { recursive: true });
  }

  async #import(node: NodeLayout, archive: string): Promise<void> {
    const images = (...args: readonly string[]) => this.#ctr(node, '--namespace', 'k8s.io', 'images', ...args);
    await images('import', archive);
    // The kubelet sees an image once containerd's CRI plugin, which is told by events, has taken it over.
    let listed = '';
    const areTakenOver = async () => {
      listed = await images('list');
      const [, ...lines] = listed.trim().split('\n');
      return lines.length > 0 && lines.every((line) => line.includes(TAKEN_OVER));
    };
    const what = `containerd of node ${node.number} to take over the images in ${archive}`;
    await waitFor(areTakenOver, { what, timeoutMs: COMMAND_TIMEOUT_MS, intervalMs: 200, explain: () => listed });
  }

  #ctr({ containerdSocket }: NodeLayout, ...args: readonly string[]): Promise<string> {
    return runOrThrow(this.#programs.ctr, ['--address', containerdSocket, ...args], COMMAND_TIMEOUT_MS);
  }

  #node(number: number): NodeLayout {
    const found = this.#nodes.find((node) => node.number === number);
    if (!found) throw new Error(`There is no node ${number}.`);
    return found;
  }

  #client(): KubeConfig {
    const config = new KubeConfig();
    config.loadFromFile(this.#controlPlane.adminKubeconfig);
    return config;
  }
}

async function responds(url: string): Promise<true | undefined> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
  return response?.ok || undefined;
}

/** The root of cgroup v2, or those of the controllers of cgroup v1. */
async function cgroupHierarchies(): Promise<string[]> {
  const root = '/sys/fs/cgroup';
  const names = await readdir(root, { withFileTypes: true });
  if (names.some(({ name }) => name === 'cgroup.controllers')) return [root];
  return names.filter((entry) => entry.isDirectory() && entry.name !== 'unified').map(({ name }) => join(root, name));
}
