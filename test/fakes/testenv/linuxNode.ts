import { type NodeJson, nodeJson } from '../../../controllers/kubernetes/testing/nodeJson.ts';
import { readyCondition } from '../localaws/nodes/nodeObject.ts';

/** Outside of the addresses of the benchmarks' nodes, which are counted from 10.0.0.0. */
const NAME = 'ip-10-255-0-10.eu-west-1.compute.internal';

/** The Linux node that a cluster must have before Windows nodes join it, because CoreDNS runs there. kwok acts as its kubelet. */
export function linuxNode(): NodeJson {
  return nodeJson(NAME, {
    annotations: { 'kwok.x-k8s.io/node': 'fake' },
    spec: { providerID: 'aws:///eu-west-1a/i-00000000000000010' },
    status: {
      capacity: { cpu: '2', memory: '8Gi', pods: '29' },
      allocatable: { memory: '7Gi' },
      // As the kubelet reports it at its registration; kwok continues to report it.
      conditions: [readyCondition(true, new Date())],
      nodeInfo: {
        operatingSystem: 'linux',
        osImage: 'Amazon Linux 2023',
        kernelVersion: '6.1.147',
        kubeletVersion: 'v1.36.1-eks-1234567',
      },
    },
  });
}
