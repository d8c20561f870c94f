import { EC2 } from '@aws-sdk/client-ec2';
import { EKS } from '@aws-sdk/client-eks';

/** The unmodified SDK clients against a local AWS; one attempt a call unless more are asked for, a time-out of 1 s. For tests. */
export interface SdkClients {
  readonly eks: EKS;
  readonly ec2: EC2;
  destroy(): void;
}

/** Makes both clients for the URL of a local AWS. Any credentials will do: no signature is checked. */
export function sdkClients(endpoint: string, region: string, maxAttempts = 1): SdkClients {
  const options = {
    region,
    endpoint,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 1000, throwOnRequestTimeout: true },
  };
  const eks = new EKS(options);
  const ec2 = new EC2(options);
  return {
    eks,
    ec2,
    destroy: () => {
      eks.destroy();
      ec2.destroy();
    },
  };
}
