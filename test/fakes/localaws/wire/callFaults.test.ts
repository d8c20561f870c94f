import assert from 'node:assert/strict';
import type { Faults } from '../faults.ts';
import { type LocalAws, startLocalAws } from '../localAws.ts';
import { MemoryCloud } from '../memory.ts';
import { nodeRoleArn } from '../network.ts';
import { sampleCluster, sampleGroup } from '../testing/fixtures.ts';
import { type SdkClients, sdkClients } from './sdkClients.ts';

interface SdkError {
  readonly name: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const SERVICES = ['eks', 'ec2', 'autoscaling', 'ssm'] as const;
type Service = (typeof SERVICES)[number];

const Name = '/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.36/image_id';
const ACTIONS = [
  'eks:DescribeCluster',
  'ec2:DescribeSubnets',
  'autoscaling:DescribeAutoScalingGroups',
  'ssm:GetParameter',
];

type Row = readonly [what: string, arm: (faults: Faults) => void, ...ofServices: SdkError[]];
const rows: readonly Row[] = [
  [
    'throttling',
    ({ calls }) => calls.throttle(),
    seen('ThrottlingException', 429),
    seen('RequestLimitExceeded', 503),
    seen('Throttling', 400),
    seen('ThrottlingException', 400),
  ],
  [
    'a server error',
    ({ calls }) => calls.serverError(),
    seen('ServerException', 500),
    seen('InternalError', 500),
    seen('InternalFailure', 500),
    seen('InternalServerError', 500),
  ],
  [
    'an unavailable service',
    ({ calls }) => calls.serverError({ status: 503 }),
    seen('ServiceUnavailableException', 503),
    seen('Unavailable', 503),
    seen('ServiceUnavailable', 503),
    seen('ServiceUnavailable', 503),
  ],
  [
    'a missing permission',
    (faults) => {
      for (const action of ACTIONS) faults.removeAction({ action });
    },
    seen('AccessDeniedException', 403),
    seen('UnauthorizedOperation', 403),
    seen('AccessDenied', 403),
    seen('AccessDeniedException', 400),
  ],
  [
    'a page of HTML',
    ({ calls }) => calls.html(),
    seen('SyntaxError', 502),
    seen('Unknown', 502),
    seen('Unknown', 502),
    seen('SyntaxError', 502),
  ],
  ['a reset connection', ({ calls }) => calls.reset(), ...ofAll(broken('ECONNRESET'))],
  ['a call that hangs', ({ calls }) => calls.hang(), ...ofAll(broken('ETIMEDOUT'))],
  ['an error without a body', ({ calls }) => calls.empty(), ...ofAll(seen('Unknown', 500))],
  [
    'any other error',
    ({ calls }) => calls.error({ name: 'ExpiredTokenException', message: 'expired' }),
    ...ofAll(seen('ExpiredTokenException', 403)),
  ],
];

function ofAll(error: SdkError): SdkError[] {
  return SERVICES.map(() => error);
}

function seen(name: string, httpStatusCode: number): SdkError {
  return { name, $metadata: { httpStatusCode } };
}

function broken(code: string): SdkError {
  return { name: 'TimeoutError', code };
}

/** The parts of an error that a client uses. */
function essence(error: unknown): SdkError {
  const { name, code, $metadata } = error as SdkError;
  const httpStatusCode = $metadata?.httpStatusCode;
  return {
    name,
    ...(code === undefined ? {} : { code }),
    ...(httpStatusCode === undefined ? {} : { $metadata: { httpStatusCode } }),
  };
}

const failure = (promise: Promise<unknown>): Promise<SdkError> =>
  promise.then(() => assert.fail('the call was answered'), essence);

describe('faults over HTTP and in memory', () => {
  let cloud: LocalAws;
  let sdk: SdkClients;
  /** For calls without a response. */
  let impatient: SdkClients;
  let memory: MemoryCloud;

  before(async () => {
    cloud = await startLocalAws({ cluster: sampleCluster });
    sdk = sdkClients(cloud.url, sampleCluster.region);
    impatient = sdkClients(cloud.url, sampleCluster.region, { requestTimeout: 1_000 });
    memory = new MemoryCloud({ cluster: sampleCluster });
  });

  after(async () => {
    sdk.destroy();
    impatient.destroy();
    await cloud.stop();
  });

  const overHttp = (service: Service, { eks, ec2, autoscaling, ssm } = sdk): Promise<object> =>
    ({
      eks: () => eks.describeCluster({ name: 'demo' }),
      ec2: () => ec2.describeSubnets({}),
      autoscaling: () => autoscaling.describeAutoScalingGroups({}),
      ssm: () => ssm.getParameter({ Name }),
    })[service]();
  const inMemory = (service: Service): Promise<object> =>
    ({
      eks: () => memory.send('DescribeCluster', { name: 'demo' }),
      ec2: () => memory.send('DescribeSubnets', {}),
      autoscaling: () => memory.send('DescribeAutoScalingGroups', {}),
      ssm: () => memory.send('GetParameter', { Name }),
    })[service]();

  for (const [what, arm, ...ofServices] of rows) {
    it(`return ${what} to both clients like AWS`, async () => {
      for (const [index, service] of SERVICES.entries()) {
        const expected = ofServices[index];
        const clients = expected?.code === 'ETIMEDOUT' ? impatient : sdk;
        for (const [faults, send] of [
          [cloud.faults, (from = sdk) => overHttp(service, from)],
          [memory.faults, () => inMemory(service)],
        ] as const) {
          arm(faults);
          assert.deepEqual(await failure(send(clients)), expected, service);
          faults.restoreAction();
          assert.ok(await send(), 'the next call is answered');
        }
      }
    });
  }

  it('affect the given number of calls of one operation, and no others', async () => {
    cloud.faults.calls.throttle({ count: 2, operation: 'ListNodegroups' });
    assert.ok(await overHttp('eks'));
    for (let call = 0; call < 2; call += 1)
      assert.equal((await failure(sdk.eks.listNodegroups({ clusterName: 'demo' }))).name, 'ThrottlingException');
    assert.ok(await sdk.eks.listNodegroups({ clusterName: 'demo' }));
  });

  it('affect the calls about one node group, and no others', async () => {
    const describe = (nodegroupName: string) =>
      failure(sdk.eks.describeNodegroup({ clusterName: 'demo', nodegroupName }));
    cloud.faults.calls.throttle({ operation: 'DescribeNodegroup', group: 'linux' });
    assert.equal((await describe('web')).name, 'ResourceNotFoundException');
    assert.equal((await describe('linux')).name, 'ThrottlingException');
    assert.equal((await describe('linux')).name, 'ResourceNotFoundException');
  });

  it('affect the calls for prerequisites, each by its name', async () => {
    const entry = { clusterName: 'demo', principalArn: nodeRoleArn };
    const calls: readonly (readonly [operation: string, error: string, send: () => Promise<unknown>])[] = [
      [
        'DescribeAddon',
        'ThrottlingException',
        () => sdk.eks.describeAddon({ clusterName: 'demo', addonName: 'vpc-cni' }),
      ],
      ['DescribeAccessEntry', 'ThrottlingException', () => sdk.eks.describeAccessEntry(entry)],
      ['CreateAccessEntry', 'ThrottlingException', () => sdk.eks.createAccessEntry({ ...entry, type: 'EC2_WINDOWS' })],
      ['DescribeInstanceTypes', 'RequestLimitExceeded', () => sdk.ec2.describeInstanceTypes({})],
      ['DescribeInstanceTypeOfferings', 'RequestLimitExceeded', () => sdk.ec2.describeInstanceTypeOfferings({})],
      ['DescribeSubnets', 'RequestLimitExceeded', () => sdk.ec2.describeSubnets({})],
    ];
    cloud.resetCalls();
    for (const [operation] of calls) cloud.faults.calls.throttle({ operation });
    for (const [, error, send] of [...calls].reverse()) assert.equal((await failure(send())).name, error);
    assert.deepEqual(
      cloud.calls().map(({ operation, result }) => [operation, result]),
      calls.map(([operation, error]) => [operation, error]).reverse(),
    );
    assert.ok(await sdk.eks.describeAccessEntry(entry), 'the next call is answered');
  });

  it('can lose the response of a call that took effect', async () => {
    cloud.faults.calls.reset({ operation: 'CreateNodegroup', after: true });
    assert.deepEqual(await failure(sdk.eks.createNodegroup(sampleGroup())), broken('ECONNRESET'));
    assert.equal(cloud.state.groups.has('web'), true);
    cloud.faults.calls.reset({ operation: 'DeleteNodegroup' });
    assert.deepEqual(
      await failure(sdk.eks.deleteNodegroup({ clusterName: 'demo', nodegroupName: 'web' })),
      broken('ECONNRESET'),
    );
    assert.equal(cloud.state.groups.get('web')?.nodegroup.status, 'CREATING');
  });

  it('are hidden by the retries of a client', async () => {
    const retrying = sdkClients(cloud.url, sampleCluster.region, { maxAttempts: 3 });
    cloud.faults.calls.serverError({ count: 2 });
    const { $metadata } = await retrying.eks.describeCluster({ name: 'demo' });
    assert.equal($metadata.attempts, 3);
    retrying.destroy();
  });

  it('are in the list of calls, which has every call in order with its result', async () => {
    cloud.resetCalls();
    cloud.faults.calls.throttle();
    await failure(overHttp('eks'));
    await overHttp('ec2');
    await failure(sdk.eks.describeNodegroup({ clusterName: 'demo', nodegroupName: 'none' }));
    assert.deepEqual(
      cloud.calls().map(({ n, operation, input, result }) => ({ n, operation, input, result })),
      [
        { n: 1, operation: 'DescribeCluster', input: { name: 'demo' }, result: 'ThrottlingException' },
        { n: 2, operation: 'DescribeSubnets', input: {}, result: 'ok' },
        {
          n: 3,
          operation: 'DescribeNodegroup',
          input: { clusterName: 'demo', nodegroupName: 'none' },
          result: 'ResourceNotFoundException',
        },
      ],
    );
    assert.match(cloud.calls()[0]?.userAgent ?? '', /^aws-sdk-js/);
  });

  it('do not skip the gate, which delays a call before and after it takes effect', async () => {
    const passed: string[] = [];
    cloud.resetCalls();
    cloud.setGate(({ n, operation }, phase) => {
      passed.push(`${n} ${operation} ${phase}`);
    });
    await overHttp('eks');
    cloud.setGate(() => {});
    assert.deepEqual(passed, ['1 DescribeCluster before', '1 DescribeCluster after']);
  });
});
