/** The operator as its users run it: in pods of its image, on the real nodes of the environment. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { V1Pod } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import type { Stored } from '../../../controllers/kubernetes/objects.ts';
import { waitFor } from '../../../hack/controlplane/wait.ts';
import { buildImage } from '../../../hack/image/buildImage.ts';
import { downloadAll } from '../../../hack/image/downloads.ts';
import { readPins } from '../../../hack/image/pins.ts';
import { ARCHITECTURE } from '../../../hack/realnode/images.ts';
import type { RealNodes } from '../../../hack/realnode/realNodes.ts';
import { localAws } from './operatorProcess.ts';
import { CLUSTER_NAME, REGION, type TestEnv } from './testEnv.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DEPLOYMENT = 'deployment/windowspool-operator';
const SELECTOR = 'app.kubernetes.io/name=windowspool-operator';
const LEASE = ['lease', 'windowspool-operator', '--namespace=kube-system'];
const READY_TIMEOUT_MS = 90_000;

export const NAMESPACE = 'winpool-system';
/** containerd's name of the image that config/default names, without its tag. */
export const IMAGE = 'docker.io/library/windowspool-operator';

/** All suites of a process share the environment, and the image on its nodes. */
let imported: Promise<void> | undefined;

/** Downloads what the image is built from: call it before `spawnIsolated`, because nothing can be downloaded there. */
export async function downloadImageFiles(): Promise<void> {
  await downloadAll(ARCHITECTURE, await readPins());
}

/** Imports the image into all nodes, after building it unless its archive is given. */
async function importImage(nodes: RealNodes, archive?: string): Promise<void> {
  const build = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'image-'));
    return (await buildImage({ folder, architectures: [ARCHITECTURE] })).archive;
  };
  await nodes.importImage(archive ?? (await build()));
}

/** What an overlay of a user has in addition to image, cluster and Region. */
export interface Overlay {
  /** The checkout that has config. Default: this one. */
  readonly root?: string;
  /** Of the image. Default: that in config. */
  readonly tag?: string;
  /** A folder of config. Default: default. */
  readonly base?: 'default' | 'ha';
  /** Folders of config. */
  readonly components?: readonly string[];
  /** Merged into the spec of the pods. */
  readonly podSpec?: object;
  /** Without keys for AWS in the environment, as in a cluster where the pods get them from EKS. Default: with keys. */
  readonly withoutKeys?: boolean;
  /** Merged into the container. */
  readonly container?: { readonly env?: readonly object[]; readonly [field: string]: unknown };
}

/** The operator in pods of the image that is built from this checkout. */
export class OperatorPods {
  #world: TestEnv | undefined;
  #folder = '';

  get world(): TestEnv {
    if (!this.#world) throw new Error('The pods of the operator were not started.');
    return this.#world;
  }
  get nodes(): RealNodes {
    if (!this.world.nodes) throw new Error('The pods of the operator need real nodes: see hack/realnode.');
    return this.world.nodes;
  }

  /** Prepares the nodes of an environment for its pods. Without the archive of an image, one is built. */
  async start(world: TestEnv, archive?: string): Promise<void> {
    this.#world = world;
    imported ??= importImage(this.nodes, archive);
    await imported;
    this.#folder = await mkdtemp(join(tmpdir(), 'overlay-'));
  }

  /** Deletes all pools, and then the Deployment. */
  async stop(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
    if (!this.#world) return;
    await this.world.kubectl('delete', 'windowspools', '--all', '--timeout=60s');
    await this.kubectl('delete', 'deployments,poddisruptionbudgets', '--all', '--timeout=60s');
  }

  /** Applies an overlay of config, without waiting for its pods. */
  async apply(more: Overlay = {}): Promise<void> {
    await writeFile(join(this.#folder, 'kustomization.yaml'), stringify(this.#kustomization(more)));
    await this.world.kubectl('apply', '-k', this.#folder);
  }

  /** Applies an overlay of config, and waits for the rollout and a leader. */
  async deploy(more: Overlay = {}): Promise<void> {
    await this.apply(more);
    await this.rolledOut();
    await this.leader();
  }

  /** Waits until all pods are of the last version of the Deployment, and Ready. */
  async rolledOut(): Promise<void> {
    const status = ['rollout', 'status', DEPLOYMENT, '--namespace', NAMESPACE, `--timeout=${READY_TIMEOUT_MS / 1000}s`];
    const timeoutMs = READY_TIMEOUT_MS + 10_000;
    await this.world.controlPlane.kubectlOutput(status, { timeoutMs }).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await this.kubectl('describe', 'pods')}`);
    });
  }

  /** kubectl in the namespace of the operator. Throws its errors. */
  kubectl(...args: readonly string[]): Promise<string> {
    return this.world.kubectl('--namespace', NAMESPACE, ...args);
  }

  /** Runs JavaScript in the container of a pod, and returns what it prints: the image has no shell. */
  run(pod: string, script: string): Promise<string> {
    return this.kubectl('exec', pod, '--', 'node', '--input-type=module', '-e', script);
  }

  /** The pods that are not being deleted. */
  async pods(): Promise<Stored<V1Pod>[]> {
    const { items } = JSON.parse(await this.kubectl('get', 'pods', '-l', SELECTOR, '-o', 'json'));
    return items.filter(({ metadata }: V1Pod) => metadata?.deletionTimestamp === undefined);
  }

  /** The only pod. */
  async pod(): Promise<Stored<V1Pod>> {
    const [pod, ...others] = await this.pods();
    if (!pod || others.length > 0) throw new Error(`There are ${others.length + (pod ? 1 : 0)} pods of the operator.`);
    return pod;
  }

  /** The pod that leads, once there is one other than `not`. */
  leader(not?: string): Promise<Stored<V1Pod>> {
    return waitFor(
      async () => {
        const jsonPath = 'jsonpath={.spec.holderIdentity}';
        const holder = await this.world.kubectl('get', ...LEASE, '--ignore-not-found', '-o', jsonPath);
        // NAME_RANDOM
        const name = holder.slice(0, holder.lastIndexOf('_'));
        return name === not ? undefined : (await this.pods()).find(({ metadata }) => metadata.name === name);
      },
      { what: 'a pod to hold the lease', timeoutMs: READY_TIMEOUT_MS, explain: () => this.log() },
    );
  }

  /** The last lines of the log of each pod. */
  log(): Promise<string> {
    return this.kubectl('logs', '--selector', SELECTOR, '--prefix', '--tail=15');
  }

  /** The overlay: with the address of the local AWS, and an image that only the nodes have. */
  #kustomization(overlay: Overlay): object {
    const { root = ROOT, tag, base = 'default', components = [] } = overlay;
    const { podSpec = {}, container = {}, withoutKeys } = overlay;
    const local = Object.entries(localAws(this.world.cloud.url))
      .filter(([name]) => !(withoutKeys && /_(ACCESS_KEY_ID|SECRET_ACCESS_KEY)$/.test(name)))
      .map(([name, value]) => ({ name, value }));
    const env = [...(container.env ?? []), ...local];
    const operator = { ...container, name: 'operator', imagePullPolicy: 'Never', env };
    const template = { spec: { ...podSpec, containers: [operator] } };
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'windowspool-operator' } };
    const config = relative(this.#folder, join(root, 'config'));
    return {
      resources: [join(config, base)],
      components: components.map((name) => join(config, name)),
      images: [
        { name: 'ghcr.io/windowspool-operator/windowspool-operator', newName: IMAGE, ...(tag && { newTag: tag }) },
      ],
      configMapGenerator: [
        {
          name: 'windowspool-operator-cluster',
          namespace: NAMESPACE,
          behavior: 'merge',
          literals: [`clusterName=${CLUSTER_NAME}`, `region=${REGION}`],
        },
      ],
      patches: [{ target: { kind: 'Deployment' }, patch: JSON.stringify({ ...deployment, spec: { template } }) }],
    };
  }
}
