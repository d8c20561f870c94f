/** The operator gets its keys for AWS as in EKS: by the variables and volumes that the webhooks of EKS add to pods, and from their endpoints. */
import assert from 'node:assert/strict';
import { runCommand } from '../../hack/controlplane/command.ts';
import { HOST_ADDRESS } from '../../hack/realnode/isolation.ts';
import { startCredentialServices } from '../packaging/credentialServices.ts';
import { poolManifest } from '../pools.ts';
import { withOperatorPods } from './operatorPodsFixture.ts';

const ACCOUNT = 'system:serviceaccount:winpool-system:windowspool-operator';
/** Of the agent of EKS Pod Identity, on each node: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html */
const AGENT_ADDRESS = '169.254.170.23';

/** A volume with a token of the ServiceAccount, as both webhooks add it, and its mount. */
const tokenVolume = (name: string, audience: string, mountPath: string, path: string) => ({
  podSpec: {
    volumes: [
      { name, projected: { sources: [{ serviceAccountToken: { audience, expirationSeconds: 86_400, path } }] } },
    ],
  },
  mounts: [{ name, mountPath, readOnly: true }],
});

/** The claims of a token. Its signature is not checked. */
const claimsOf = (token = '') => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}');

describe("the operator's identity in AWS", function () {
  this.timeout(180_000);
  const operator = withOperatorPods();
  afterEach(() => operator.world.kubectl('delete', 'windowspools', '--all', '--timeout=60s'));

  it('is the role of its ServiceAccount, with IAM roles for service accounts', async () => {
    await using sts = await startServices(HOST_ADDRESS);
    // https://github.com/aws/amazon-eks-pod-identity-webhook
    const folder = '/var/run/secrets/eks.amazonaws.com/serviceaccount';
    const { podSpec, mounts } = tokenVolume('aws-iam-token', 'sts.amazonaws.com', folder, 'token');
    const env = {
      AWS_STS_REGIONAL_ENDPOINTS: 'regional',
      AWS_DEFAULT_REGION: 'eu-west-1',
      AWS_ROLE_ARN: 'arn:aws:iam::111122223333:role/windowspool-operator',
      AWS_WEB_IDENTITY_TOKEN_FILE: `${folder}/token`,
      AWS_ENDPOINT_URL_STS: sts.url,
    };
    await operator.deploy({ withoutKeys: true, podSpec, container: { env: variables(env), volumeMounts: mounts } });
    await operator.world.apply(poolManifest('irsa'));
    await operator.world.waitForReady('irsa');
    const request = new URLSearchParams(sts.requests[0]?.body);
    assert.equal(request.get('Action'), 'AssumeRoleWithWebIdentity');
    assert.equal(request.get('RoleArn'), env.AWS_ROLE_ARN);
    const { aud, sub } = claimsOf(request.get('WebIdentityToken') ?? '');
    assert.deepEqual([aud, sub], [['sts.amazonaws.com'], ACCOUNT]);
  });

  it('is the role of its association, with EKS Pod Identity', async () => {
    await addAddress(AGENT_ADDRESS);
    await using agent = await startServices(AGENT_ADDRESS, 80);
    const folder = '/var/run/secrets/pods.eks.amazonaws.com/serviceaccount';
    const file = 'eks-pod-identity-token';
    const { podSpec, mounts } = tokenVolume(file, 'pods.eks.amazonaws.com', folder, file);
    const env = {
      AWS_STS_REGIONAL_ENDPOINTS: 'regional',
      AWS_DEFAULT_REGION: 'eu-west-1',
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://${AGENT_ADDRESS}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: `${folder}/${file}`,
    };
    await operator.deploy({ withoutKeys: true, podSpec, container: { env: variables(env), volumeMounts: mounts } });
    await operator.world.apply(poolManifest('pod-identity'));
    await operator.world.waitForReady('pod-identity');
    const [request] = agent.requests;
    assert.equal(request?.path, '/v1/credentials');
    const { aud, sub } = claimsOf(request.authorization);
    assert.deepEqual([aud, sub], [['pods.eks.amazonaws.com'], ACCOUNT]);
  });
});

const variables = (env: Readonly<Record<string, string>>) =>
  Object.entries(env).map(([name, value]) => ({ name, value }));

async function startServices(address: string, port = 0) {
  const services = await startCredentialServices(address, port);
  return { ...services, [Symbol.asyncDispose]: () => services.stop() };
}

/** Adds an address to the namespaces of this process. */
async function addAddress(address: string): Promise<void> {
  const { code, stderr } = await runCommand('ip', ['address', 'add', `${address}/32`, 'dev', 'node0'], {
    timeoutMs: 10_000,
  });
  assert.equal(code, 0, stderr);
}
