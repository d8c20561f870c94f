/** The SDK clients. Endpoint, region and credentials come from the SDK's default chains (AWS_ENDPOINT_URL_EKS, IRSA, Pod Identity). */
import type { AutoScalingClient } from '@aws-sdk/client-auto-scaling';
import type { EC2Client } from '@aws-sdk/client-ec2';
import {
  CreateAccessEntryCommand,
  CreateNodegroupCommand,
  DeleteNodegroupCommand,
  DescribeAccessEntryCommand,
  DescribeAddonCommand,
  DescribeClusterCommand,
  DescribeNodegroupCommand,
  DescribeUpdateCommand,
  EKSClient,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateAddonCommand,
  UpdateNodegroupConfigCommand,
  UpdateNodegroupVersionCommand,
} from '@aws-sdk/client-eks';
import type { IAMClient } from '@aws-sdk/client-iam';
import type { SSMClient } from '@aws-sdk/client-ssm';
import type { AutoScalingCall, Ec2Call, EksCall, EksOperations, IamCall, SsmCall } from './calls.ts';

const COMMANDS = {
  DescribeCluster: DescribeClusterCommand,
  CreateNodegroup: CreateNodegroupCommand,
  DescribeNodegroup: DescribeNodegroupCommand,
  UpdateNodegroupConfig: UpdateNodegroupConfigCommand,
  UpdateNodegroupVersion: UpdateNodegroupVersionCommand,
  DeleteNodegroup: DeleteNodegroupCommand,
  DescribeUpdate: DescribeUpdateCommand,
  TagResource: TagResourceCommand,
  UntagResource: UntagResourceCommand,
  DescribeAddon: DescribeAddonCommand,
  UpdateAddon: UpdateAddonCommand,
  DescribeAccessEntry: DescribeAccessEntryCommand,
  CreateAccessEntry: CreateAccessEntryCommand,
} satisfies Record<keyof EksOperations, unknown>;

export interface AwsClients {
  readonly eks: EksCall;
  readonly ec2: Ec2Call;
  readonly ssm: SsmCall;
  readonly iam: IamCall;
  readonly autoScaling: AutoScalingCall;
  /** Closes the connections. */
  close(): void;
}

export function createAwsClients(options: { readonly region: string; readonly version: string }): AwsClients {
  const config = clientConfig(options);
  const client = new EKSClient(config);
  const send = sender(client);
  // Loaded lazily: an operator whose pools are healthy may never need them.
  const ec2 = lazy(async () => {
    const sdk = await import('./ec2Client.ts');
    return { client: new sdk.EC2Client(config), commands: sdk.EC2_COMMANDS };
  });
  const ssm = lazy(async () => {
    const sdk = await import('./ssmClient.ts');
    return { client: new sdk.SSMClient(config), commands: sdk.SSM_COMMANDS };
  });
  const iam = lazy(async () => {
    const sdk = await import('./iamClient.ts');
    return { client: new sdk.IAMClient(config), commands: sdk.IAM_COMMANDS };
  });
  const autoScaling = lazy(async () => {
    const sdk = await import('./autoScalingClient.ts');
    return { client: new sdk.AutoScalingClient(config), commands: sdk.AUTO_SCALING_COMMANDS };
  });
  // If the SDK retried after a lost response, it would shrink the group twice. The operator checks the instance before it retries.
  const endings = lazy(async () => {
    const sdk = await import('./autoScalingClient.ts');
    return { client: new sdk.AutoScalingClient({ ...config, maxAttempts: 1 }), commands: sdk.AUTO_SCALING_COMMANDS };
  });
  return {
    eks: (operation, input, signal) => {
      const Command = COMMANDS[operation] as new (input: unknown) => unknown;
      return send(new Command(input), { abortSignal: signal });
    },
    ec2: ec2.call,
    ssm: ssm.call,
    iam: iam.call,
    autoScaling: (operation, input, signal) =>
      (operation === 'TerminateInstanceInAutoScalingGroup' ? endings : autoScaling).call(operation, input, signal),
    close: () => {
      client.destroy();
      autoScaling.close();
      endings.close();
      ssm.close();
      iam.close();
      ec2.close();
    },
  };
}

type LazyClient = EC2Client | SSMClient | IAMClient | AutoScalingClient;

/** A client that is loaded with its first call. */
function lazy(
  load: () => Promise<{ readonly client: LazyClient; readonly commands: Readonly<Record<string, unknown>> }>,
) {
  let loaded: ReturnType<typeof load> | undefined;
  return {
    call: async (operation: string, input: unknown, signal: AbortSignal): Promise<never> => {
      loaded ??= load();
      const { client, commands } = await loaded;
      const Command = commands[operation] as new (input: unknown) => unknown;
      return sender(client)(new Command(input), { abortSignal: signal });
    },
    close: (): void => {
      loaded?.then(({ client }) => client.destroy()).catch(() => undefined);
    },
  };
}

/** The command is looked up by name, which the overloads of send cannot express. */
function sender(client: EKSClient | LazyClient) {
  return client.send.bind(client) as unknown as (
    command: unknown,
    options: { abortSignal: AbortSignal },
  ) => Promise<never>;
}

function clientConfig({ region, version }: { readonly region: string; readonly version: string }) {
  return {
    region,
    maxAttempts: 3,
    // Without throwOnRequestTimeout, the SDK only logs a time-out.
    requestHandler: {
      connectionTimeout: 3_000,
      requestTimeout: 15_000,
      throwOnRequestTimeout: true,
      // The SDK leaves proxies to the agent, and Node's agent reads HTTPS_PROXY and NO_PROXY only from proxyEnv.
      httpsAgent: { maxSockets: 50, proxyEnv: process.env },
    },
    customUserAgent: [['windowspool-operator', version]] as [string, string][],
  };
}
