/** What the kubelets of Karpenter's simulated nodes report: its provider creates the Node objects, without the fields by which an operating system is known. */
import { setTimeout as sleep } from 'node:timers/promises';
import { KubernetesError } from '../../../controllers/kubernetes/kubernetesError.ts';
import type { ControlPlane } from '../../../hack/controlplane/controlplane.ts';
import { watchNewKind } from '../clusterApi/infrastructure.ts';
import { ObjectClient, pathOf } from '../clusterApi/objectClient.ts';
import type { StoredObject } from '../clusterApi/objects.ts';
import { EXISTING_KUBELET } from '../testenv/existingNode.ts';
import type { Watched } from '../testenv/watchEvents.ts';

const PROVIDER_PREFIX = 'kwok://';
const RETRY_MS = 200;

interface NodeObject extends StoredObject {
  readonly spec?: { readonly providerID?: string };
}

/** The running kubelets. */
export class WindowsKubelets {
  /** The kernel version of nodes that join from now on. */
  kernelVersion = '10.0.20348.2762';
  readonly #client: ObjectClient;
  readonly #log: (line: string) => void;
  readonly #ending: AbortController;
  /** The UIDs of nodes that have reported. */
  readonly #reported = new Set<string>();
  readonly #work = new Set<Promise<void>>();
  #watch: Watched | undefined;

  /** Reports for all nodes of Karpenter's simulated provider. */
  static async start(plane: ControlPlane, log: (line: string) => void): Promise<WindowsKubelets> {
    const ending = new AbortController();
    const client = await ObjectClient.connect(await plane.kubeconfigForUser('cloud'), 'kubelet', ending.signal);
    const kubelets = new WindowsKubelets(client, log, ending);
    kubelets.#watch = await watchNewKind(plane.adminKubeconfig, pathOf('v1', 'Node'), ({ type, object }) => {
      if (type !== 'DELETED') kubelets.#onNode(object as NodeObject);
    });
    return kubelets;
  }

  private constructor(client: ObjectClient, log: (line: string) => void, ending: AbortController) {
    this.#client = client;
    this.#log = log;
    this.#ending = ending;
  }

  /** Stops them. Nodes remain. Rejects if the watch had ended before. */
  async stop(): Promise<void> {
    await this.#watch?.stop();
    this.#ending.abort();
    await Promise.all(this.#work);
    this.#client.close();
  }

  #onNode({ metadata: { name, uid }, spec }: NodeObject): void {
    if (!spec?.providerID?.startsWith(PROVIDER_PREFIX) || this.#reported.has(uid)) return;
    this.#reported.add(uid);
    const work = this.#report(name, this.kernelVersion).finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  async #report(name: string, kernelVersion: string): Promise<void> {
    const nodeInfo = {
      kernelVersion,
      kubeletVersion: EXISTING_KUBELET,
      containerRuntimeVersion: 'containerd://2.1.4',
      operatingSystem: 'windows',
      osImage: 'Windows Server Datacenter',
      architecture: 'amd64',
      bootID: '',
      kubeProxyVersion: '',
      machineID: name,
      systemUUID: name,
    };
    while (!this.#ending.signal.aborted) {
      try {
        return await this.#client.patch('v1', 'Node', name, { status: { nodeInfo } }, 'status');
      } catch (error) {
        if (this.#ending.signal.aborted || (error instanceof KubernetesError && error.status === 404)) return;
        this.#log(`kubelet of ${name}: ${error}`);
        await sleep(RETRY_MS);
      }
    }
  }
}
