/** The services from which the AWS SDK gets credentials, on one port: STS, the agent of EKS Pod Identity, the instance metadata service, IAM Identity Center and sign-in. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';

const EXPIRATION = new Date(Date.now() + 3_600_000).toISOString();

const keys = (id: string) => ({ accessKeyId: id, secretAccessKey: 'secret', sessionToken: 'session' });

/** In the format of the agents: https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html */
const agentKeys = (id: string) =>
  JSON.stringify({
    AccessKeyId: id,
    SecretAccessKey: 'secret',
    Token: 'session',
    Expiration: EXPIRATION,
    Code: 'Success',
  });

const stsKeys = (action: string, id: string) => `<${action}Response><${action}Result><Credentials>
<AccessKeyId>${id}</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>session</SessionToken><Expiration>${EXPIRATION}</Expiration>
</Credentials></${action}Result></${action}Response>`;

/** The response to a request; its access key ID names the service. */
function answer(path: string, body: string): string {
  const action = /Action=(\w+)/.exec(body)?.[1];
  if (action) return stsKeys(action, action);
  // The path of the agent of EKS, and one for tests.
  if (path === '/v1/credentials' || path.startsWith('/pod-identity')) return agentKeys('PodIdentity');
  if (path === '/latest/api/token') return 'token';
  if (path === '/latest/meta-data/iam/security-credentials/') return 'node';
  if (path === '/latest/meta-data/iam/security-credentials/node') return agentKeys('InstanceMetadata');
  if (path.startsWith('/federation/credentials'))
    return JSON.stringify({ roleCredentials: { ...keys('IdentityCenter'), expiration: Date.parse(EXPIRATION) } });
  // SSO OIDC: the token of a renewed session.
  if (path === '/token') return JSON.stringify({ accessToken: 'renewed', expiresIn: 3600, refreshToken: 'next' });
  if (path === '/v1/token')
    return JSON.stringify({
      accessToken: keys('SignIn'),
      tokenType: 'aws_sigv4',
      expiresIn: 900,
      refreshToken: 'next',
    });
  return '';
}

/** A request that was answered. */
export interface CredentialRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

export interface CredentialServices {
  readonly url: string;
  readonly requests: readonly CredentialRequest[];
  /** Paths without a service here. */
  readonly unknown: readonly string[];
  stop(): Promise<void>;
}

export async function startCredentialServices(address = '127.0.0.1', port = 0): Promise<CredentialServices> {
  const requests: CredentialRequest[] = [];
  const unknown: string[] = [];
  const server = createServer(async (request, response) => {
    const path = request.url?.replace(/\?.*/, '') ?? '';
    const body = await textOf(request);
    const text = answer(path, body);
    requests.push({ path, authorization: request.headers.authorization, body });
    if (text === '') unknown.push(`${request.method} ${path}`);
    response.writeHead(text === '' ? 404 : 200, {
      'content-type': text.startsWith('<') ? 'text/xml' : 'application/json',
      // The instance metadata service returns the lifetime of its token.
      'x-aws-ec2-metadata-token-ttl-seconds': '21600',
    });
    response.end(text);
  });
  server.listen(port, address);
  await once(server, 'listening');
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://${address}:${(server.address() as AddressInfo).port}`, requests, unknown, stop };
}
