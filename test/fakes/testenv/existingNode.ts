import {
  type NodeJson,
  type NodeParts,
  type NodeTaint,
  nodeJson,
} from '../../../controllers/kubernetes/testing/nodeJson.ts';
import { chosenSeries } from '../../../hack/controlplane/binaries.ts';
import { notNewerThan } from '../localaws/releases.ts';

/** That of nodeJson, unless the API server is older. It has no suffix of EKS. */
export const [EXISTING_KUBELET = ''] = notNewerThan(chosenSeries(), 'v1.36.1').split('-');

/** A Windows node that was created outside the operator, for a pool of existing nodes. */
export interface ExistingNode extends Omit<NodeParts, 'spec' | 'status'> {
  readonly name: string;
  readonly taints?: readonly NodeTaint[];
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  /** Default: a Windows Server 2022. */
  readonly kernelVersion?: string;
  /** Default: 12Gi of 16Gi. */
  readonly allocatableMemory?: string;
  readonly runtimeHandlers?: readonly { readonly name: string }[];
  /** Other fields that its kubelet reports. */
  readonly nodeInfo?: Readonly<Record<string, string>>;
}

/** The Node as its kubelet registers it. kwok acts as the kubelet from then on. */
export function existingNode({ name, labels, annotations, ...more }: ExistingNode): NodeJson {
  const { taints, kernelVersion, nodeInfo, allocatableMemory: memory = '12Gi', addresses, runtimeHandlers } = more;
  return nodeJson(name, {
    labels,
    annotations: { 'kwok.x-k8s.io/node': 'fake', ...annotations },
    spec: { providerID: `vsphere://${name}`, ...(taints && { taints }) },
    status: {
      allocatable: { memory },
      ...(addresses && { addresses }),
      ...(runtimeHandlers && { runtimeHandlers }),
      nodeInfo: { ...(kernelVersion && { kernelVersion }), kubeletVersion: EXISTING_KUBELET, ...nodeInfo },
    },
  });
}
