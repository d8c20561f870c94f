/** Errors of probes. The kubelet writes them while the container runs. */
import type { KnownError, Subject } from './knownError.ts';

const PROBES: Subject = { name: 'probes', pattern: /\b(?:readiness|liveness|startup) probe (?:failed|errored)/i };

const PROBES_AND_HOOKS: Subject = {
  name: 'probes and hooks',
  pattern: new RegExp(`${PROBES.pattern.source}|(?:PostStart|PreStop)Hook`, 'i'),
};

export const PROBE_ERRORS: readonly KnownError[] = [
  {
    name: 'NameNotResolved',
    writtenBy: 'kubelet (events Unhealthy, FailedPostStartHook, FailedPreStopHook), with the output of the program',
    pattern: /no such host|could not resolve host|DNS name does not exist/i,
    within: PROBES_AND_HOOKS,
    cause: 'The container cannot resolve a DNS name.',
    remedy:
      'Windows appends only the DNS suffix of the namespace of the pod. Use the name of a Service in the same namespace, or the full name (NAME.NAMESPACE.svc.cluster.local): NAME.NAMESPACE is not resolved. If full names also fail, look at CoreDNS, at kube-proxy on the node, and at the security groups, which must let the node reach CoreDNS on port 53 (UDP and TCP). On EKS, kube-proxy needs an access entry of the type EC2_WINDOWS, or the group eks:kube-proxy-windows.',
    source:
      'https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#dns-windows, https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html',
  },
  {
    name: 'ProbeCommandTooSlow',
    writtenBy: 'kubelet (event Unhealthy)',
    pattern: /failed to exec in container: timeout \S{1,32} exceeded|\bcommand\b.{0,1024}timed out/i,
    within: PROBES,
    cause: 'The command of the probe takes longer than its timeoutSeconds, which is 1 by default.',
    remedy:
      'Raise timeoutSeconds and periodSeconds of the probe: a process such as PowerShell can take seconds to start. httpGet and tcpSocket start no process.',
    source:
      'https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/, Azure/prometheus-collector#727',
  },
  {
    name: 'ProbeRefused',
    writtenBy: 'kubelet (event Unhealthy)',
    pattern: /actively refused|connection refused/i,
    within: PROBES,
    cause: 'No process listens on the address and the port of the probe.',
    remedy:
      'If the application is still starting, add a startupProbe that lasts as long (periodSeconds times failureThreshold). Otherwise, compare the port of the probe with that of the application, which must listen on all addresses, not only on localhost. Read its log (kubectl logs).',
    source: 'https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/',
  },
  {
    name: 'ProbeTimeout',
    writtenBy: 'kubelet (event Unhealthy)',
    pattern: /i\/o timeout|Client\.Timeout exceeded|context deadline exceeded|did not properly respond/i,
    within: PROBES,
    cause: 'The application does not answer the probe within timeoutSeconds, which is 1 by default.',
    remedy:
      'If only this workload fails, look at its log and its CPU usage, or raise timeoutSeconds. If all pods of the node fail at the same time, the network of the node is the cause: compare with pods on other nodes, look at the pods of the network on the node, or replace the node.',
    isPossible: true,
    source: 'projectcalico/calico#6196, Azure/azure-container-networking#359',
  },
  {
    name: 'ProbeAnswersWithError',
    writtenBy: 'kubelet (event Unhealthy)',
    pattern: /probe failed with statuscode: \d{3}/i,
    cause: 'The application runs, and answers the probe with an error.',
    remedy:
      'Read its log (kubectl logs), and compare the path of the probe. The node and its network are not the cause.',
    source: 'https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/',
  },
];
