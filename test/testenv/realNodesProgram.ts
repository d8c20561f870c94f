/** Starts a real node with a pod in namespaces of its own, reports it to its parent, and stops when the parent asks. */
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { PAUSE_IMAGE } from '../../hack/realnode/images.ts';
import { HOST_ADDRESS } from '../../hack/realnode/isolation.ts';
import { startRealNodes } from '../../hack/realnode/realNodes.ts';

export interface Started {
  /** The nodes, as kubectl shows them. */
  readonly table: string;
  /** The name of the temporary folder in the namespaces, which is also that of the cgroup. */
  readonly folder: string;
}

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'pause' },
  spec: { containers: [{ name: 'pause', image: PAUSE_IMAGE, imagePullPolicy: 'Never' }] },
};

const plane = await startControlPlane({ address: HOST_ADDRESS });
const nodes = await startRealNodes(plane, 1);
await plane.kubectlOutput(['apply', '-f', '-'], { stdin: JSON.stringify(pod) });
const phase = () => plane.kubectlOutput(['get', 'pod', 'pause', '-o', 'jsonpath={.status.phase}']);
await waitFor(async () => (await phase()) === 'Running', { what: 'the pod to run' });
const table = await plane.kubectlOutput(['get', 'nodes', '-o', 'wide', '--no-headers']);
process.send?.({ table, folder: basename(tmpdir()) } satisfies Started);
await once(process, 'message');
await nodes.stop();
await plane.stop();
process.disconnect?.();
