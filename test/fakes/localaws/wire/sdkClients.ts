import { AutoScaling } from '@aws-sdk/client-auto-scaling';
import { EC2 } from '@aws-sdk/client-ec2';
import { EKS } from '@aws-sdk/client-eks';
import { IAM } from '@aws-sdk/client-iam';
import { SSM } from '@aws-sdk/client-ssm';
import { STS } from '@aws-sdk/client-sts';

/** The unmodified SDK clients against a local AWS. For tests. */
export interface SdkClients {
  readonly eks: EKS;
  readonly ec2: EC2;
  readonly autoscaling: AutoScaling;
  readonly ssm: SSM;
  readonly sts: STS;
  readonly iam: IAM;
  destroy(): void;
}

/**
 * Creates the clients for the URL of a local AWS. Any credentials are accepted: no signature is checked. By default a call is sent once,
 * and fails after 20 s without a response.
 */
export function sdkClients(
  endpoint: string,
  region: string,
  { maxAttempts = 1, requestTimeout = 20_000 } = {},
): SdkClients {
  const options = {
    region,
    endpoint,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts,
    requestHandler: { connectionTimeout: requestTimeout, requestTimeout, throwOnRequestTimeout: true },
  };
  const clients = {
    eks: new EKS(options),
    ec2: new EC2(options),
    autoscaling: new AutoScaling(options),
    ssm: new SSM(options),
    sts: new STS(options),
    iam: new IAM(options),
  };
  return {
    ...clients,
    destroy: () => {
      for (const client of Object.values(clients)) client.destroy();
    },
  };
}
