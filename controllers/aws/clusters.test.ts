import assert from 'node:assert/strict';
import type { Cluster } from '@aws-sdk/client-eks';
import { createClusters } from './clusters.ts';
import { callsOf } from './testing/callsOf.ts';

const { signal } = new AbortController();
const ARN = 'arn:aws:eks:eu-west-1:111122223333:cluster/prod';

function pem(...bodies: string[]): string {
  return bodies.map((body) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`).join('');
}

function describing(answer: Partial<Cluster> | Error | undefined, ours = pem('QUJD')) {
  const inputs: unknown[] = [];
  const eks = callsOf(async (_operation, input) => {
    inputs.push(input);
    if (answer instanceof Error) throw answer;
    return { cluster: answer };
  });
  return {
    inputs,
    clusters: createClusters('prod', eks, async () => ours),
  };
}

/** A cluster that EKS has just begun to create. */
const CREATING = { arn: ARN, status: 'CREATING' } as const;

function authority(text: string): Partial<Cluster> {
  return { certificateAuthority: { data: Buffer.from(text).toString('base64') } };
}

function failing(name: string, status: number): Error {
  return Object.assign(new Error('words'), { name, $metadata: { httpStatusCode: status } });
}

describe('the cluster', () => {
  it('is mapped to the types of the domain', async () => {
    const { inputs, clusters } = describing({
      name: 'prod',
      arn: ARN,
      roleArn: 'arn:aws:iam::111122223333:role/eks-cluster',
      status: 'ACTIVE',
      version: '1.36',
      endpoint: 'https://0A1B.eks.example',
      kubernetesNetworkConfig: { ipFamily: 'ipv6', serviceIpv4Cidr: '10.100.0.0/16' },
      accessConfig: { authenticationMode: 'API' },
      computeConfig: { enabled: true },
      resourcesVpcConfig: { vpcId: 'vpc-0a000000' },
      ...authority(pem('QUJD')),
    });
    assert.deepEqual(await clusters.describe(signal), {
      ok: true,
      value: {
        name: 'prod',
        arn: ARN,
        endpoint: 'https://0A1B.eks.example',
        certificateAuthority: authority(pem('QUJD')).certificateAuthority?.data,
        serviceCidr: '10.100.0.0/16',
        roleArn: 'arn:aws:iam::111122223333:role/eks-cluster',
        status: 'ACTIVE',
        kubernetesVersion: '1.36',
        ipFamily: 'ipv6',
        authenticationMode: 'API',
        autoMode: true,
        vpcId: 'vpc-0a000000',
        isOurs: true,
      },
    });
    assert.deepEqual(inputs, [{ name: 'prod' }]);
  });

  it('is not that of the operator if EKS returns no certificate', async () => {
    assert.deepEqual(await describing(CREATING).clusters.describe(signal), {
      ok: true,
      value: {
        name: 'prod',
        arn: ARN,
        endpoint: '',
        certificateAuthority: '',
        roleArn: '',
        status: 'CREATING',
        kubernetesVersion: '',
        ipFamily: 'ipv4',
        authenticationMode: 'CONFIG_MAP',
        autoMode: false,
        vpcId: '',
        isOurs: false,
      },
    });
  });

  for (const answer of [undefined, {}, { arn: ARN }, { status: 'ACTIVE' as const }]) {
    it(`is not absent if a proxy responds with ${JSON.stringify(answer)}`, async () => {
      const result = await describing(answer).clusters.describe(signal);
      assert.equal(!result.ok && `${result.error.kind} ${result.error.code}`, 'unavailable MalformedResponse');
    });
  }

  const table: readonly (readonly [string, string, string, boolean])[] = [
    ['the same certificate', pem('QUJD'), pem('QUJD'), true],
    ['the same certificate with other line breaks', pem('QU\nJD'), pem('QUJD').replaceAll('\n', '\r\n'), true],
    ['one certificate of the bundle', pem('REVG', 'QUJD'), pem('R0hJ', 'QUJD'), true],
    ['another certificate', pem('REVG'), pem('QUJD'), false],
    ['no certificate on either side', '', '', false],
    ['no certificate in the CA bundle', pem('QUJD'), 'insecure', false],
  ];
  for (const [name, theirs, ours, want] of table) {
    it(`with ${name} is ${want ? '' : 'not '}that of the operator`, async () => {
      const answer = await describing({ ...CREATING, ...authority(theirs) }, ours).clusters.describe(signal);
      assert.equal(answer.ok && answer.value?.isOurs, want);
    });
  }

  for (const [config, want] of [
    [undefined, {}],
    [{}, {}],
    [{ clusterSecurityGroupId: 'sg-1', securityGroupIds: [] }, { securityGroup: 'sg-1' }],
    [
      { clusterSecurityGroupId: 'sg-1', securityGroupIds: ['sg-2'] },
      { securityGroup: 'sg-1', additionalSecurityGroups: ['sg-2'] },
    ],
    [{ endpointPrivateAccess: true }, {}],
    [{ endpointPrivateAccess: false, endpointPublicAccess: true }, { isPublicOnly: true }],
  ] as const) {
    it(`has the network settings of ${JSON.stringify(config)}`, async () => {
      const resourcesVpcConfig = config as Cluster['resourcesVpcConfig'];
      const answer = await describing({ ...CREATING, resourcesVpcConfig }).clusters.describe(signal);
      const { securityGroup, additionalSecurityGroups, isPublicOnly } = (answer.ok && answer.value) || {};
      assert.deepEqual(
        {
          ...(securityGroup && { securityGroup }),
          ...(additionalSecurityGroups && { additionalSecurityGroups }),
          ...(isPublicOnly && { isPublicOnly }),
        },
        want,
      );
    });
  }

  it('is compared with the current CA bundle', async () => {
    const eks = callsOf(async () => ({ cluster: { ...CREATING, ...authority(pem('REVG')) } }));
    let ours = pem('QUJD');
    const clusters = createClusters('prod', eks, async () => ours);
    const isOurs = async () => {
      const answer = await clusters.describe(signal);
      return answer.ok && answer.value?.isOurs;
    };
    assert.equal(await isOurs(), false);
    ours += pem('REVG');
    assert.equal(await isOurs(), true);
  });

  it('is absent if EKS does not find it', async () => {
    const answer = failing('ResourceNotFoundException', 404);
    assert.deepEqual(await describing(answer).clusters.describe(signal), { ok: true, value: undefined });
  });

  it('is an error if EKS denies the call', async () => {
    const answer = await describing(failing('AccessDeniedException', 403)).clusters.describe(signal);
    assert.deepEqual(answer, {
      ok: false,
      error: { kind: 'denied', operation: 'DescribeCluster', code: 'AccessDeniedException', message: 'words' },
    });
  });
});
