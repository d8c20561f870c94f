import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Fence } from '../runtime/ports.ts';
import { createAwsClients } from './clients.ts';

const open: Fence = { check: () => undefined };

/** Allows the first `passes` checks. */
function closingAfter(passes: number): Fence & { checks: number } {
  const fence = {
    checks: 0,
    check: () => {
      fence.checks += 1;
      if (fence.checks > passes) throw new Error('the lease was lost');
    },
  };
  return fence;
}

describe('a call to EC2 Auto Scaling whose response is lost', () => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      requests += 1;
      response.writeHead(503).end();
    });
  });
  const environment = ['AWS_ENDPOINT_URL_AUTO_SCALING', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].map(
    (name) => [name, process.env[name]] as const,
  );
  let requests = 0;

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    process.env.AWS_ENDPOINT_URL_AUTO_SCALING = `http://127.0.0.1:${port}`;
    process.env.AWS_ACCESS_KEY_ID = 'test';
    process.env.AWS_SECRET_ACCESS_KEY = 'test';
  });

  after(() => {
    for (const [name, value] of environment) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    server.close();
  });

  const { signal } = new AbortController();
  const ending = { InstanceId: 'i-1', ShouldDecrementDesiredCapacity: true };

  it('is retried by the SDK if it only reads, and never if it terminates an instance', async () => {
    const clients = createAwsClients({ region: 'eu-west-1', version: 'test', fence: open });
    await assert.rejects(clients.autoScaling('DescribeAutoScalingGroups', {}, signal));
    assert.equal(requests, 3);
    await assert.rejects(clients.autoScaling('TerminateInstanceInAutoScalingGroup', ending, signal));
    assert.equal(requests, 4);
    clients.close();
  });

  it('is not sent, nor sent again, by a process that does not lead any more', async () => {
    const cases: readonly [what: string, passes: number, sent: number][] = [
      ['before the call', 0, 0],
      ['while the connection is established', 1, 0],
      ['before the SDK retries', 2, 1],
    ];
    for (const [what, passes, sent] of cases) {
      requests = 0;
      const fence = closingAfter(passes);
      const clients = createAwsClients({ region: 'eu-west-1', version: 'test', fence });
      await assert.rejects(clients.autoScaling('DescribeAutoScalingGroups', {}, signal), /the lease was lost/, what);
      assert.equal(requests, sent, what);
      clients.close();
    }
  });
});

describe('the AWS clients', () => {
  const before: Record<string, string | undefined> = {};
  /** Undefined unsets the variable. */
  function setEnv(values: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
  afterEach(() => setEnv(before));

  it('use the proxy in HTTPS_PROXY', async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createServer();
    proxy.on('connect', ({ url }, socket) => {
      asked.push(url);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    try {
      const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const values = {
        AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
        AWS_SECRET_ACCESS_KEY: 'example',
        // An unresolvable name, so that no request leaves this machine.
        AWS_ENDPOINT_URL_EKS: 'https://eks.invalid',
        HTTPS_PROXY: address,
        NO_PROXY: '10.0.0.0/8',
      };
      for (const name of Object.keys(values)) before[name] = process.env[name];
      setEnv(values);
      const clients = createAwsClients({ region: 'eu-west-1', version: '0.0.0', fence: open });
      await assert.rejects(clients.eks('DescribeCluster', { name: 'demo' }, AbortSignal.timeout(20_000)));
      clients.close();
    } finally {
      proxy.close();
    }
    assert.deepEqual(new Set(asked), new Set(['eks.invalid:443']));
  });
});
