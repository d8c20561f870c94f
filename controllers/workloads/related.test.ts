import assert from 'node:assert/strict';
import { container, hostProcess, windowsSpec, windowsVolume, workload } from '../../test/workloads/build.ts';
import { windowsFactsOf } from './lint.ts';
import { RELATED_KINDS, relatedFindingsOf, windowsWorkloadOf } from './related.ts';
import { RELATED_RULES } from './relatedRules.ts';

type Fields = Readonly<Record<string, unknown>>;

const NAMESPACE = 'default';
const object = (kind: string, fields: Fields, name = 'app', labels: Fields = {}) => ({
  kind,
  metadata: { name, namespace: NAMESPACE, labels },
  ...fields,
});
const SELECTOR = { app: 'app' };
const service = (spec: Fields) => object('Service', { spec: { selector: SELECTOR, ...spec } });
const affinity = (timeoutSeconds?: number) =>
  service({
    sessionAffinity: 'ClientIP',
    ...(timeoutSeconds && { sessionAffinityConfig: { clientIP: { timeoutSeconds } } }),
  });
const podSelector = (kind: string, selector: Fields) => object(kind, { spec: { podSelector: selector } });
const expression = (operator: string, values: readonly string[] = []) => ({
  matchExpressions: [{ key: 'app', operator, values }],
});
const association = (spec: Fields) => object('PodIdentityAssociation', { spec });
const storageClass = (fields: Fields) => ({ kind: 'StorageClass', metadata: { name: 'shared' }, ...fields });
const ext4 = storageClass({ parameters: { 'csi.storage.k8s.io/fstype': 'ext4' } });
const volume = (spec: Fields) => ({ kind: 'PersistentVolume', metadata: { name: 'volume' }, spec });
const efs = { csi: { driver: 'efs.csi.aws.com' } };
const namespace = (profile: string, name = NAMESPACE) => ({
  kind: 'Namespace',
  metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': profile } },
});

const CLAIM = object('PersistentVolumeClaim', { spec: { storageClassName: 'shared', volumeName: 'volume' } }, 'data');
const deployment = (spec: Fields = {}, replicas = 2) => {
  const manifest = workload('Deployment', windowsSpec(spec));
  return { ...manifest, spec: { ...(manifest.spec as Fields), replicas } };
};
const on2019 = deployment({ nodeSelector: { 'node.kubernetes.io/windows-build': '10.0.17763' } });
const mounting = deployment(windowsVolume({ persistentVolumeClaim: { claimName: 'data' } }));
const stateful = () => {
  const manifest = workload('StatefulSet', windowsSpec());
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: { storageClassName: 'shared' } }];
  return { ...manifest, spec: { ...(manifest.spec as Fields), volumeClaimTemplates } };
};
const secrets = deployment(
  windowsVolume({ csi: { driver: 'secrets-store.csi.k8s.io', volumeAttributes: { secretProviderClass: 'app' } } }),
);
const asHostProcess = deployment(hostProcess());
const restricted = deployment({
  securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
  containers: [container({ securityContext: { capabilities: { drop: ['ALL'] } } })],
});
const daemonSet = (desiredNumberScheduled?: number) => ({
  ...workload('DaemonSet', windowsSpec()),
  status: { desiredNumberScheduled },
});

describe('the objects that serve workloads on Windows', () => {
  const found = (one: object, ...workloads: readonly object[]) => {
    const known = workloads.flatMap((manifest) => {
      const facts = windowsFactsOf(manifest, []);
      return facts ? [windowsWorkloadOf(manifest, facts)] : [];
    });
    return relatedFindingsOf(one, known, [CLAIM, object('PersistentVolumeClaim', {}, 'other')]);
  };

  const rows: readonly (readonly [what: string, one: object, workload: object, ...rules: readonly string[]])[] = [
    ['a Service', service({}), deployment()],
    ['a Service with session affinity', affinity(), deployment()],
    ['a Service with session affinity on 2019', affinity(), on2019, 'SessionAffinity2019'],
    ['a Service with the default time-out', affinity(10_800), deployment()],
    ['a Service with a time-out', affinity(10), deployment(), 'SessionAffinityTimeout'],
    ['a time-out for other pods', { ...affinity(10), spec: { selector: { app: 'other' } } }, deployment()],
    ['a Service without a selector', object('Service', { spec: { selector: {} } }), deployment({}, 2000)],
    ['a Service of another namespace', { ...service({}), metadata: { namespace: 'other' } }, deployment({}, 2000)],
    ['a Service with 1,024 pods', service({}), deployment({}, 1024)],
    ['a Service with 1,025 pods', service({}), deployment({}, 1025), 'TooManyBackends'],
    ['a headless Service with 1,025 pods', service({ clusterIP: 'None' }), deployment({}, 1025)],
    ['a Service of a DaemonSet in a file', service({}), daemonSet()],
    ['a Service of a DaemonSet on 1,025 nodes', service({}), daemonSet(1025), 'TooManyBackends'],
    ['a Service of Linux pods', service({}), workload('Deployment', { containers: [] })],
    ['a network policy for all pods', podSelector('NetworkPolicy', {}), deployment(), 'NetworkPolicyNotEnforced'],
    ['a network policy without a selector', object('NetworkPolicy', {}), deployment(), 'NetworkPolicyNotEnforced'],
    [
      'a network policy for the pods',
      podSelector('NetworkPolicy', { matchLabels: SELECTOR }),
      deployment(),
      'NetworkPolicyNotEnforced',
    ],
    ['a network policy for others', podSelector('NetworkPolicy', { matchLabels: { app: 'other' } }), deployment()],
    ...(['In', 'Exists'] as const).map(
      (operator) =>
        [
          `security groups for pods by ${operator}`,
          podSelector('SecurityGroupPolicy', expression(operator, ['app'])),
          deployment(),
          'PodSecurityGroups',
        ] as const,
    ),
    ...(['NotIn', 'DoesNotExist', 'Like'] as const).map(
      (operator) =>
        [
          `security groups for pods by ${operator}`,
          podSelector('SecurityGroupPolicy', expression(operator, ['app'])),
          deployment(),
        ] as const,
    ),
    ['security groups by the ServiceAccount', object('SecurityGroupPolicy', { spec: {} }), deployment()],
    [
      'security groups by the ServiceAccount and all pods',
      object('SecurityGroupPolicy', { spec: { podSelector: {}, serviceAccountSelector: { matchLabels: SELECTOR } } }),
      deployment(),
    ],
    [
      'an association of Pod Identity',
      association({ namespace: NAMESPACE, serviceAccount: 'web' }),
      deployment({ serviceAccountName: 'web' }),
      'PodIdentityAssociation',
    ],
    [
      'an association of Pod Identity with Crossplane',
      association({ forProvider: { namespace: NAMESPACE, serviceAccount: 'default' } }),
      deployment(),
      'PodIdentityAssociation',
    ],
    ['an association of another account', association({ namespace: NAMESPACE, serviceAccount: 'web' }), deployment()],
    ['a StorageClass for EFS', storageClass({ provisioner: 'efs.csi.aws.com' }), mounting, 'LinuxStorage'],
    ['a StorageClass for EFS that is not used', storageClass({ provisioner: 'efs.csi.aws.com' }), deployment()],
    ['a StorageClass for EBS', storageClass({ provisioner: 'ebs.csi.aws.com' }), mounting],
    ['a StorageClass with ext4', ext4, mounting, 'FileSystemType'],
    ['a StorageClass with ext4, of a StatefulSet', ext4, stateful(), 'FileSystemType'],
    ['a StorageClass with ext4 for EBS', { ...ext4, provisioner: 'ebs.csi.aws.com' }, mounting],
    ['a volume of EBS with ext4', volume({ csi: { driver: 'ebs.csi.aws.com', fsType: 'ext4' } }), mounting],
    ['a volume with xfs', volume({ csi: { driver: 'csi.example.com', fsType: 'xfs' } }), mounting, 'FileSystemType'],
    ['a StorageClass with ntfs', storageClass({ parameters: { fsType: 'ntfs' } }), mounting],
    ['a volume of EFS', volume(efs), mounting, 'LinuxStorage'],
    ['a volume of NFS', volume({ nfs: { server: '10.0.0.1', path: '/' } }), mounting, 'LinuxStorage'],
    [
      'a volume of S3 by its claim',
      {
        kind: 'PersistentVolume',
        spec: { csi: { driver: 's3.csi.aws.com' }, claimRef: { namespace: NAMESPACE, name: 'data' } },
      },
      mounting,
      'LinuxStorage',
    ],
    ['a volume that is not used', { ...volume(efs), metadata: { name: 'other' } }, mounting],
    [
      'the AWS provider of secrets',
      object('SecretProviderClass', { spec: { provider: 'aws' } }),
      secrets,
      'SecretProvider',
    ],
    ['another provider of secrets', object('SecretProviderClass', { spec: { provider: 'vault' } }), secrets],
    ['HostProcess in a baseline namespace', namespace('baseline'), asHostProcess, 'HostProcessForbidden'],
    ['HostProcess in a restricted namespace', namespace('restricted'), asHostProcess, 'HostProcessForbidden'],
    ['HostProcess in a privileged namespace', namespace('privileged'), asHostProcess],
    ['HostProcess in another namespace', namespace('baseline', 'other'), asHostProcess],
    ['a restricted namespace', namespace('restricted'), deployment(), 'RestrictedWithoutOS'],
    ['a restricted namespace and os.name', namespace('restricted'), deployment({ os: { name: 'windows' } })],
    ['a restricted namespace and the fields of Linux', namespace('restricted'), restricted],
    ['a baseline namespace', namespace('baseline'), deployment()],
    ['an object of another kind', object('ConfigMap', {}), deployment()],
  ];
  for (const [what, one, manifest, ...rules] of rows)
    it(`finds ${rules.join(' and ') || 'nothing'} in ${what}`, () =>
      assert.deepEqual(
        found(one, manifest).map(({ rule }) => rule),
        rules,
      ));

  it('has a row for each rule, which has words as the others', () => {
    const names = RELATED_RULES.map(({ name }) => name);
    assert.deepEqual([...new Set(rows.flatMap(([, , , ...rules]) => rules))].sort(), [...names].sort());
    for (const { name, message } of RELATED_RULES) {
      assert.match(name, /^[A-Z][A-Za-z0-9]+$/);
      assert.match(message, /[^.]$/);
      assert.ok(message.length < 200, `${name}: ${message.length} characters`);
    }
  });

  it('adds up the pods of all workloads, and names five at most', () => {
    const many = Array.from({ length: 6 }, (_, index) => ({
      ...deployment({}, 200),
      metadata: { name: `web-${index}`, namespace: NAMESPACE },
    }));
    const [finding] = found(service({}), ...many);
    assert.equal(finding?.names.length, 6);
    assert.match(finding?.message ?? '', /^TooManyBackends \(web-0, web-1, web-2, web-3, web-4, \.\.\.\): /);
  });

  it('finds nothing in malformed objects', () => {
    for (const kind of RELATED_KINDS)
      for (const fields of [
        {},
        { spec: null },
        { spec: [] },
        { metadata: 'a', spec: { selector: 'a', podSelector: [] } },
      ])
        assert.deepEqual(found({ kind, ...fields }, mounting), [], kind);
  });
});
