/** The kubelet replaces the operator's token and the certificate of its metrics endpoint while it runs. Takes 11 minutes. */
import assert from 'node:assert/strict';
import { connect } from 'node:tls';
import { selfSigned } from '../../cmd/operator/serving/selfSigned.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { type AuditEvent, ofOperator, readAudit, refused } from '../fakes/testenv/audit.ts';
import { NAMESPACE } from '../fakes/testenv/operatorPods.ts';
import { poolManifest } from '../pools.ts';
import { withOperatorPods } from './operatorPodsFixture.ts';

/** The least that the API server allows. The kubelet replaces a token after 80% of its lifetime. */
const TOKEN_SECONDS = 600;
const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';
const SECRET = 'windowspool-operator-metrics-cert';
const CREDENTIAL = 'authentication.kubernetes.io/credential-id';

/** The volume of a ServiceAccount that the API server adds to each pod, with a shorter lifetime of the token. */
const account = {
  name: 'account',
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
    ],
  },
};

describe('rotation in the pod of the operator', function () {
  this.timeout(1_000_000);
  const operator = withOperatorPods();
  let started: number;
  before(async () => {
    await writeCertificate('first.example');
    await operator.deploy({
      components: ['metrics-cert'],
      podSpec: { automountServiceAccountToken: false, volumes: [account] },
      container: { volumeMounts: [{ name: 'account', mountPath: ACCOUNT_FOLDER, readOnly: true }] },
    });
    started = Date.now();
    await operator.world.apply(poolManifest('rotation'));
    await operator.world.waitForReady('rotation');
  });

  async function writeCertificate(name: string): Promise<void> {
    const { cert, key } = selfSigned([name], Date.now());
    const stringData = { 'tls.crt': cert, 'tls.key': key };
    const metadata = { name: SECRET, namespace: NAMESPACE };
    await operator.world.apply({ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, stringData });
  }
  /** The operator's requests since then, without those of the pods of other suites. */
  async function requests(): Promise<AuditEvent[]> {
    const events = await readAudit(operator.world.controlPlane.auditLog);
    return ofOperator(events).filter(({ stageTimestamp = '' }) => Date.parse(stageTimestamp) > started);
  }
  const tokensOf = (events: readonly AuditEvent[]) => [
    ...new Set(events.map(({ user }) => user.extra?.[CREDENTIAL]?.[0] ?? '')),
  ];

  it('the metrics endpoint has the new certificate of its Secret within 2 minutes, without a restart', async () => {
    const { metadata, status } = await operator.pod();
    const names = () => namesAt(status.podIP ?? '', 8443);
    assert.match(await names(), /first\.example/);
    await writeCertificate('second.example');
    await waitFor(async () => (await names()).includes('second.example'), {
      what: 'the new certificate',
      timeoutMs: 120_000,
      intervalMs: 1_000,
    });
    const after = await operator.pod();
    assert.deepEqual([after.metadata.uid, after.status.containerStatuses?.[0]?.restartCount], [metadata.uid, 0]);
  });

  it('the operator uses the new token before the old one expires, and none of its requests is denied', async () => {
    const [first] = tokensOf(await requests());
    assert.ok(first);
    const rotated = async () => tokensOf(await requests()).length > 1;
    await waitFor(rotated, {
      what: 'requests with the new token',
      timeoutMs: TOKEN_SECONDS * 1_000,
      intervalMs: 5_000,
    });
    console.log(
      `    The first request with the new token came ${Math.round((Date.now() - started) / 1000)} s after the rollout.`,
    );
    const expired = async () => Date.now() > started + (TOKEN_SECONDS + 30) * 1_000;
    await waitFor(expired, { what: 'the first token to expire', timeoutMs: TOKEN_SECONDS * 1_000, intervalMs: 5_000 });
    await operator.world.kubectl('scale', 'windowspool', 'rotation', '--replicas=2');
    await operator.world.waitForPool('rotation', 'to have 2 nodes', (pool) => pool?.status?.nodes?.verified === 2);
    assert.deepEqual(refused(await requests()), []);
    assert.equal((await operator.pod()).status.containerStatuses?.[0]?.restartCount, 0);
  });
});

/** The names in the certificate of a server. */
function namesAt(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false }, () => {
      const { subjectaltname = '' } = socket.getPeerCertificate();
      socket.destroy();
      resolve(subjectaltname);
    });
    socket.setTimeout(10_000, () => socket.destroy(new Error(`${host}:${port} did not answer within 10 s.`)));
    socket.once('error', reject);
  });
}
