import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { parseAllDocuments } from 'yaml';

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Where a server is and how to be trusted by it. `ca` is PEM. */
export interface ServerAccess {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const requestTimeoutMs = 10_000;

/**
 * One HTTPS request with a connection of its own: the few that a start needs are not worth a pool that somebody must close.
 * Any HTTP status is an answer; the promise is rejected when there is none.
 */
async function ask(
  server: ServerAccess,
  method: 'GET' | 'PATCH' | 'POST',
  path: string,
  body?: object,
): Promise<Answer> {
  const dispatcher = new Agent({ connect: { ca: server.ca }, pipelining: 0 });
  try {
    const { statusCode, body: answer } = await request(`${server.url}${path}`, {
      method,
      dispatcher,
      headers: {
        authorization: `Bearer ${server.token}`,
        'content-type': method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json',
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    return { status: statusCode, body: await answer.text() };
  } finally {
    await dispatcher.destroy();
  }
}

/** Whether the server answers 200. One that refuses, is not there yet or shows another certificate doesn't. */
export async function answersOk(server: ServerAccess, path: string): Promise<boolean> {
  try {
    return (await ask(server, 'GET', path)).status === 200;
  } catch {
    return false;
  }
}

/** Applies a file of ClusterRoles and ClusterRoleBindings (YAML documents) on the server's side. */
export async function applyClusterRbac(server: ServerAccess, file: string): Promise<void> {
  for (const document of parseAllDocuments(await readFile(file, 'utf8'))) {
    const manifest = document.toJS() as Manifest;
    const path = `/apis/rbac.authorization.k8s.io/v1/${manifest.kind.toLowerCase()}s/${encodeURIComponent(manifest.metadata.name)}`;
    const answer = await ask(server, 'PATCH', `${path}?fieldManager=controlplane&force=true`, manifest);
    if (answer.status >= 300) throw new Error(`${manifest.kind} ${manifest.metadata.name} was refused: ${answer.body}`);
  }
}

/** A bearer token of a ServiceAccount, good for `seconds`, from the TokenRequest API. */
export async function requestToken(
  server: ServerAccess,
  namespace: string,
  name: string,
  seconds: number,
): Promise<string> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts/${encodeURIComponent(name)}/token`;
  const answer = await ask(server, 'POST', path, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: seconds },
  });
  if (answer.status !== 201) throw new Error(`No token for ServiceAccount ${namespace}/${name}: ${answer.body}`);
  return (JSON.parse(answer.body) as { status: { token: string } }).status.token;
}
