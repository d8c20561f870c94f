/**
 * The nodes of Machines, as the Windows Machine Config Operator of OpenShift makes their kubelets register them:
 * https://github.com/openshift/windows-machine-config-operator/blob/master/pkg/nodeconfig/nodeconfig.go. kwok keeps them alive.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../../hack/controlplane/controlplane.ts';
import { watchNewKind } from '../clusterApi/infrastructure.ts';
import { deleteNode, nodeOf, registerNode } from '../clusterApi/nodes.ts';
import { pathOf } from '../clusterApi/objectClient.ts';
import { ApiServer } from '../localaws/nodes/apiServer.ts';
import type { Watched } from '../testenv/watchEvents.ts';
import { NAMESPACE, OPENSHIFT, type OpenShiftMachine } from './objects.ts';

const TAINT = { key: 'os', value: 'Windows', effect: 'NoSchedule' } as const;
const LABELS = { 'node.openshift.io/os_id': 'Windows' };
const RETRY_MS = 200;

/** The running kubelets. */
export class Kubelets {
  readonly #server: ApiServer;
  readonly #log: (line: string) => void;
  readonly #ending = new AbortController();
  readonly #machines = new Map<string, OpenShiftMachine>();
  /** The UIDs of the Machines whose nodes have registered; a kubelet does so once. */
  readonly #registered = new Set<string>();
  readonly #work = new Map<string, Promise<void>>();
  #watch: Watched | undefined;

  /** Registers the nodes of all Machines that have an instance. */
  static async start(plane: ControlPlane, log: (line: string) => void): Promise<Kubelets> {
    const kubelets = new Kubelets(new ApiServer(await plane.kubeconfigForUser('cloud')), log);
    kubelets.#watch = await watchNewKind(
      plane.adminKubeconfig,
      pathOf(OPENSHIFT, 'Machine', NAMESPACE),
      ({ type, object }) => {
        const { name } = object.metadata;
        kubelets.#machines.set(name, object as OpenShiftMachine);
        kubelets.#wake(name, type === 'DELETED');
      },
    );
    return kubelets;
  }

  private constructor(server: ApiServer, log: (line: string) => void) {
    this.#server = server;
    this.#log = log;
  }

  /** Stops them. Nodes remain. Rejects if the watch had ended before. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#work.values());
    await this.#server.close();
    await this.#watch?.stop();
  }

  #wake(name: string, isGone: boolean): void {
    const failed = async (error: unknown) => {
      if (this.#ending.signal.aborted) return;
      this.#log(`kubelet of ${name}: ${error}`);
      await sleep(RETRY_MS);
      if (!this.#ending.signal.aborted) this.#wake(name, isGone);
    };
    const before = this.#work.get(name) ?? Promise.resolve();
    this.#work.set(name, before.then(() => this.#reconcile(name, isGone)).catch(failed));
  }

  async #reconcile(name: string, isGone: boolean): Promise<void> {
    const { signal } = this.#ending;
    const machine = this.#machines.get(name);
    const { providerID, providerSpec } = machine?.spec ?? {};
    if (!machine || !providerID) return;
    const node = providerID.replace('vsphere://', '');
    // The cloud controller manager deletes nodes without an instance.
    if (isGone) return deleteNode(this.#server, node, signal);
    const { uid, deletionTimestamp } = machine.metadata;
    const spec = providerSpec?.value ?? {};
    if (deletionTimestamp || spec.node === 'None' || this.#registered.has(uid)) return;
    await registerNode(this.#server, nodeOf(node, { ...spec, labels: { ...LABELS, ...spec.labels } }, TAINT), signal);
    this.#registered.add(uid);
  }
}
