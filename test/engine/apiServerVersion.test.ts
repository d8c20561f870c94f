/** The operator checks the version of the API server when it starts. */
import assert from 'node:assert/strict';
import { pipeline } from 'node:stream/promises';
import { waitFor } from '../../hack/controlplane/wait.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { theWorld } from '../sharedWorld.ts';
import { type ApiProxy, startApiProxy } from './apiProxy.ts';

describe('an operator whose API server', () => {
  let world: TestEnv;
  let operator: OperatorProcess | undefined;
  /** The methods and paths of all requests, without those of the version. */
  const requests: string[] = [];

  before(async () => {
    world = await theWorld();
  });
  afterEach(async () => {
    await operator?.kill();
    requests.length = 0;
  });

  /** An API server that claims another version. */
  const claiming = (gitVersion: string): Promise<ApiProxy> =>
    startApiProxy(world.controlPlane, world.operatorKubeconfig, async ({ request, response, gone, forward }) => {
      if (request.url === '/version') {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ gitVersion }));
        return;
      }
      requests.push(`${request.method} ${request.url}`);
      const { statusCode, headers, body } = await forward(request.method === 'GET' ? null : request, gone);
      response.writeHead(statusCode, headers).flushHeaders();
      await pipeline(body, response);
    });

  it('is too old exits with an error that names both versions and the next step, and writes nothing', async () => {
    await using old = await claiming('v1.30.9-eks-1234567');
    const started = world.operator(['--leader-elect=true'], { credentials: old.kubeconfig });
    operator = started;
    await waitFor(() => !started.running, { what: 'the operator to exit', explain: () => started.tail() });
    const [fatal, ...others] = started.lines.filter(({ level }) => level === 'fatal');
    assert.deepEqual(others, []);
    assertNames((fatal?.err as { message?: string } | undefined)?.message, 'v1.30.9-eks-1234567', '1.31');
    assert.deepEqual(
      requests.filter((request) => !request.startsWith('GET ')),
      [],
    );
  });

  it('is newer than tested becomes ready, and logs that once', async () => {
    await using newer = await claiming('v1.99.0');
    const started = world.operator(['--leader-elect=false'], { credentials: newer.kubeconfig });
    operator = started;
    await started.ready();
    const warnings = () => started.lines.filter(({ level }) => level === 'warn');
    await waitFor(() => warnings().length > 0, {
      what: 'the warning, which may arrive after the operator is ready',
      timeoutMs: 10_000,
      explain: () => started.tail(),
    });
    const [warning, ...others] = warnings();
    assert.deepEqual([warning?.kubernetes, others], ['v1.99.0', []]);
    assertNames(warning?.msg, 'v1.99.0', '1.34', '1.36');
  });
});
