import type { Binaries } from './binaries.ts';
import { type Layout, LOOPBACK } from './layout.ts';

export type Component = Exclude<keyof Binaries, 'kubectl'>;

/** In which order they stop: the API server takes long to stop if etcd stops first. */
export const layers: Readonly<Record<Component, number>> = {
  etcd: 0,
  'kube-apiserver': 1,
  'kube-controller-manager': 2,
  'kube-scheduler': 2,
  kwok: 2,
};

/** etcd chooses its ports and logs that for clients. No fsync, because the data need not survive a power failure. */
export function etcdArgs(layout: Layout): string[] {
  const anyPort = 'http://127.0.0.1:0';
  return [
    `--name=local`,
    `--data-dir=${layout.dir}/etcd`,
    `--listen-client-urls=${anyPort}`,
    `--advertise-client-urls=${anyPort}`,
    `--listen-peer-urls=${anyPort}`,
    `--initial-advertise-peer-urls=${anyPort}`,
    `--initial-cluster=local=${anyPort}`,
    '--unsafe-no-fsync',
    // 10,000 nodes with heartbeats outgrow the default of 2 GiB between two compactions.
    `--quota-backend-bytes=${8 * 1024 ** 3}`,
    '--log-level=info',
  ];
}

/** Reads from etcd's log which port it serves clients on. */
export function etcdClientUrl(log: string): string | undefined {
  const port = /"serving client traffic insecurely[^"]*".*?"address":"127\.0\.0\.1:(\d+)"/.exec(log)?.[1];
  return port && `http://127.0.0.1:${port}`;
}

export function apiServerArgs(layout: Layout, port: number, etcd: string): string[] {
  return [
    `--etcd-servers=${etcd}`,
    `--bind-address=${layout.address}`,
    `--secure-port=${port}`,
    `--advertise-address=${layout.address}`,
    // A loopback address is no valid endpoint of the Service `kubernetes`, and the reconciler would log errors forever.
    ...(layout.address === LOOPBACK ? ['--endpoint-reconciler-type=none'] : []),
    `--cert-dir=${layout.pki}`,
    `--token-auth-file=${layout.tokensFile}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${layout.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${layout.serviceAccountKey}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    '--kubelet-preferred-address-types=InternalIP',
    // Without these two, a stop waits a minute for the watches of the other components.
    '--shutdown-send-retry-after=true',
    '--shutdown-watch-termination-grace-period=1s',
    `--audit-policy-file=${layout.auditPolicy}`,
    `--audit-log-path=${layout.auditLog}`,
    // The line of a request is written before its response, and no rotation removes lines before they are read.
    '--audit-log-mode=blocking',
    '--audit-log-maxsize=0',
  ];
}

export function controllerManagerArgs(layout: Layout, port: number): string[] {
  return [
    ...delegatedServing(layout, 'system:kube-controller-manager', port),
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${layout.serviceAccountKey}`,
    `--root-ca-file=${layout.ca}`,
    // At the default of 20 requests a second, making the controllers' ServiceAccounts alone takes 5 s.
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
    // On a busy machine kwok renews a Lease too late for the default of 50 s, and healthy nodes turn Unknown.
    '--node-monitor-grace-period=180s',
  ];
}

export function schedulerArgs(layout: Layout, port: number): string[] {
  return delegatedServing(layout, 'system:kube-scheduler', port);
}

export function kwokArgs(layout: Layout, port: number): string[] {
  return [
    `--kubeconfig=${layout.kubeconfig('kwok')}`,
    `--config=${layout.kwokConfig}`,
    '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake',
    // The kubelet's default (nodeLeaseDurationSeconds).
    '--node-lease-duration-seconds=40',
    '--cidr=10.128.0.0/16',
    `--server-address=${layout.address}:${port}`,
    `--tls-cert-file=${layout.serverCert}`,
    `--tls-private-key-file=${layout.serverKey}`,
  ];
}

/**
 * Serving with the API server's certificate lets the readiness check tell this control plane's components from those of
 * another one on the same port. Without leader election a restart of the API server doesn't end them.
 */
function delegatedServing(layout: Layout, user: string, port: number): string[] {
  const config = layout.kubeconfig(user);
  return [
    `--kubeconfig=${config}`,
    `--authentication-kubeconfig=${config}`,
    `--authorization-kubeconfig=${config}`,
    `--bind-address=${layout.address}`,
    `--secure-port=${port}`,
    `--tls-cert-file=${layout.serverCert}`,
    `--tls-private-key-file=${layout.serverKey}`,
    '--leader-elect=false',
  ];
}
