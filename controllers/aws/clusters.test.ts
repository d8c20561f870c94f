import assert from 'node:assert/strict';
import type { Cluster } from '@aws-sdk/client-eks';
import { realClock } from '../runtime/clock.ts';
import type { EksCall } from './calls.ts';
import { EksClusters } from './clusters.ts';
import { AwsRateLimiter } from './rateLimiter.ts';

const { signal } = new AbortController();
const ARN = 'arn:aws:eks:eu-west-1:111122223333:cluster/prod';

function pem(...bodies: string[]): string {
  return bodies.map((body) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`).join('');
}

function describing(answer: Partial<Cluster> | Error | undefined, ours = pem('QUJD')) {
  const inputs: unknown[] = [];
  const eks = (async (_operation, input) => {
    inputs.push(input);
    if (answer instanceof Error) throw answer;
    return { cluster: answer };
  }) as EksCall;
  return {
    inputs,
    clusters: new EksClusters('prod', eks, new AwsRateLimiter(() => undefined, realClock), async () => ours),
  };
}

function authority(text: string): Partial<Cluster> {
  return { certificateAuthority: { data: Buffer.from(text).toString('base64') } };
}

function failing(name: string, status: number): Error {
  return Object.assign(new Error('words'), { name, $metadata: { httpStatusCode: status } });
}

describe('the cluster', () => {
  it('is described in the domain’s words', async () => {
    const { inputs, clusters } = describing({
      name: 'prod',
      arn: ARN,
      roleArn: 'arn:aws:iam::111122223333:role/eks-cluster',
      status: 'ACTIVE',
      version: '1.36',
      kubernetesNetworkConfig: { ipFamily: 'ipv6' },
      accessConfig: { authenticationMode: 'API' },
      computeConfig: { enabled: true },
      ...authority(pem('QUJD')),
    });
    assert.deepEqual(await clusters.describe(signal), {
      ok: true,
      value: {
        name: 'prod',
        arn: ARN,
        roleArn: 'arn:aws:iam::111122223333:role/eks-cluster',
        status: 'ACTIVE',
        kubernetesVersion: '1.36',
        ipFamily: 'ipv6',
        authenticationMode: 'API',
        autoMode: true,
        isOurs: true,
      },
    });
    assert.deepEqual(inputs, [{ name: 'prod' }]);
  });

  it('of which EKS says little is not ours', async () => {
    assert.deepEqual(await describing({}).clusters.describe(signal), {
      ok: true,
      value: {
        name: 'prod',
        arn: '',
        roleArn: '',
        status: 'UNKNOWN',
        kubernetesVersion: '',
        ipFamily: 'ipv4',
        authenticationMode: 'CONFIG_MAP',
        autoMode: false,
        isOurs: false,
      },
    });
  });

  const table: readonly (readonly [string, string, string, boolean])[] = [
    ['the same certificate', pem('QUJD'), pem('QUJD'), true],
    ['the same certificate, wrapped otherwise', pem('QU\nJD'), pem('QUJD').replaceAll('\n', '\r\n'), true],
    ['one of a bundle', pem('REVG', 'QUJD'), pem('R0hJ', 'QUJD'), true],
    ['another certificate', pem('REVG'), pem('QUJD'), false],
    ['no certificate on either side', '', '', false],
    ['no certificate of ours', pem('QUJD'), 'insecure', false],
  ];
  for (const [name, theirs, ours, want] of table) {
    it(`with ${name} is ${want ? '' : 'not '}ours`, async () => {
      const answer = await describing(authority(theirs), ours).clusters.describe(signal);
      assert.equal(answer.ok && answer.value?.isOurs, want);
    });
  }

  it('is ours by the authorities of the moment', async () => {
    const eks = (async () => ({ cluster: authority(pem('REVG')) })) as unknown as EksCall;
    let ours = pem('QUJD');
    const clusters = new EksClusters('prod', eks, new AwsRateLimiter(() => undefined, realClock), async () => ours);
    const isOurs = async () => {
      const answer = await clusters.describe(signal);
      return answer.ok && answer.value?.isOurs;
    };
    assert.equal(await isOurs(), false);
    ours += pem('REVG');
    assert.equal(await isOurs(), true);
  });

  it('that EKS does not know is absent', async () => {
    for (const answer of [failing('ResourceNotFoundException', 404), undefined]) {
      assert.deepEqual(await describing(answer).clusters.describe(signal), { ok: true, value: undefined });
    }
  });

  it('that may not be described is trouble', async () => {
    const answer = await describing(failing('AccessDeniedException', 403)).clusters.describe(signal);
    assert.deepEqual(answer, {
      ok: false,
      error: { kind: 'denied', operation: 'DescribeCluster', code: 'AccessDeniedException', message: 'words' },
    });
  });
});
