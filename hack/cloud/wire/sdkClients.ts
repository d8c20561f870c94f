import { AutoScaling } from '@aws-sdk/client-auto-scaling';
import { EC2 } from '@aws-sdk/client-ec2';
import { EKS } from '@aws-sdk/client-eks';
import { SSM } from '@aws-sdk/client-ssm';

/** The unmodified SDK clients against a local AWS; one attempt a call unless more are asked for, a time-out of 1 s. For tests. */
export interface SdkClients {
  readonly eks: EKS;
  readonly ec2: EC2;
  readonly autoscaling: AutoScaling;
  readonly ssm: SSM;
  destroy(): void;
}

/** Makes the clients for the URL of a local AWS. Any credentials will do: no signature is checked. */
export function sdkClients(endpoint: string, region: string, maxAttempts = 1): SdkClients {
  const options = {
    region,
    endpoint,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 1000, throwOnRequestTimeout: true },
  };
  const clients = {
    eks: new EKS(options),
    ec2: new EC2(options),
    autoscaling: new AutoScaling(options),
    ssm: new SSM(options),
  };
  return {
    ...clients,
    destroy: () => {
      for (const client of Object.values(clients)) client.destroy();
    },
  };
}
