/** The SDK clients. Endpoint, region and credentials come from the SDK's default chains (AWS_ENDPOINT_URL_EKS, IRSA, Pod Identity). */
import type { Fence } from '../runtime/ports.ts';
import type {
  AutoScalingOperations,
  Ec2Operations,
  EksOperations,
  IamOperations,
  SdkCall,
  SsmOperations,
} from './calls.ts';
import { fencedAgents } from './fencedAgents.ts';

export interface AwsClients {
  readonly eks: SdkCall<EksOperations>;
  readonly ec2: SdkCall<Ec2Operations>;
  readonly ssm: SdkCall<SsmOperations>;
  readonly iam: SdkCall<IamOperations>;
  readonly autoScaling: SdkCall<AutoScalingOperations>;
  /** Closes the connections. */
  close(): void;
}

export interface AwsClientOptions {
  readonly region: string;
  readonly version: string;
  /** Checked right before each request is sent: only the leader calls AWS. */
  readonly fence: Fence;
}

export function createAwsClients(options: AwsClientOptions): AwsClients {
  const config = clientConfig(options);
  const { fence } = options;
  // Loaded with their first call: without an EKS cluster there is none, and an operator whose pools are healthy may need EKS alone.
  const eks = lazy(async () => {
    const sdk = await import('./eksClient.ts');
    return { client: fenced(new sdk.EKSClient(config), fence), sdk };
  });
  const ec2 = lazy(async () => {
    const sdk = await import('./ec2Client.ts');
    return { client: fenced(new sdk.EC2Client(config), fence), sdk };
  });
  const ssm = lazy(async () => {
    const sdk = await import('./ssmClient.ts');
    return { client: fenced(new sdk.SSMClient(config), fence), sdk };
  });
  const iam = lazy(async () => {
    const sdk = await import('./iamClient.ts');
    return { client: fenced(new sdk.IAMClient(config), fence), sdk };
  });
  const autoScaling = lazy(async () => {
    const sdk = await import('./autoScalingClient.ts');
    return { client: fenced(new sdk.AutoScalingClient(config), fence), sdk };
  });
  // If the SDK retried after a lost response, it would shrink the group twice. The operator checks the instance before it retries.
  const endings = lazy(async () => {
    const sdk = await import('./autoScalingClient.ts');
    return { client: fenced(new sdk.AutoScalingClient({ ...config, maxAttempts: 1 }), fence), sdk };
  });
  return {
    eks: eks.call,
    ec2: ec2.call,
    ssm: ssm.call,
    iam: iam.call,
    autoScaling: (operation, input, signal) =>
      (operation === 'TerminateInstanceInAutoScalingGroup' ? endings : autoScaling).call(operation, input, signal),
    close: () => {
      for (const each of [eks, autoScaling, endings, ssm, iam, ec2]) each.close();
    },
  };
}

interface Loaded {
  readonly client: { send: unknown; destroy(): void };
  /** The module with the commands. */
  readonly sdk: object;
}

/** What checks its answers, which loads modules of the SDK, too. */
type Checking = Pick<typeof import('./validateResponse.ts'), 'checkedAnswer'>;

/** A client that is loaded with its first call. */
function lazy(load: () => Promise<Loaded>) {
  const loadBoth = async () => ({ ...(await load()), ...(await import('./validateResponse.ts')) });
  let loaded: ReturnType<typeof loadBoth> | undefined;
  return {
    call: async (operation: string, input: unknown, signal: AbortSignal): Promise<never> => {
      loaded ??= loadBoth();
      return send(await loaded, operation, input, signal);
    },
    close: (): void => {
      loaded?.then(({ client }) => client.destroy()).catch(() => undefined);
    },
  };
}

/** Looks the command up by its name, which the overloads of the SDK's `send` cannot express. */
async function send(
  { client, sdk, checkedAnswer }: Loaded & Checking,
  operation: string,
  input: unknown,
  signal: AbortSignal,
): Promise<never> {
  const Command = (sdk as Readonly<Record<string, new (input: unknown) => object>>)[`${operation}Command`];
  if (!Command) throw new TypeError(`no client module exports ${operation}Command`);
  const { send } = client as unknown as {
    send(command: unknown, options: { abortSignal: AbortSignal }): Promise<never>;
  };
  const command = new Command(input);
  return checkedAnswer(command, await send.call(client, command, { abortSignal: signal }));
}

/** The part of every client's middleware stack that `fenced` uses. */
interface Middleware {
  add(
    middleware: <I, O>(next: (args: I) => Promise<O>) => (args: I) => Promise<O>,
    options: { readonly step: 'deserialize'; readonly priority: 'low'; readonly name: string },
  ): void;
}

/** Checks the fence last: after the credentials were read, the request was signed, and before each of the SDK's retries. */
function fenced<C extends { readonly middlewareStack: unknown }>(client: C, fence: Fence): C {
  const stack = client.middlewareStack as Middleware;
  const middleware: Parameters<Middleware['add']>[0] = (next) => (args) => {
    fence.check();
    return next(args);
  };
  stack.add(middleware, { step: 'deserialize', priority: 'low', name: 'fence' });
  return client;
}

function clientConfig({ region, version, fence }: AwsClientOptions) {
  return {
    region,
    maxAttempts: 3,
    // Without throwOnRequestTimeout, the SDK only logs a time-out.
    requestHandler: {
      connectionTimeout: 3_000,
      requestTimeout: 15_000,
      throwOnRequestTimeout: true,
      // The SDK leaves proxies to the agent, and Node's agent reads HTTPS_PROXY and NO_PROXY only from proxyEnv.
      ...fencedAgents({ keepAlive: true, maxSockets: 50, proxyEnv: process.env }, fence),
    },
    customUserAgent: [['windowspool-operator', version]] as [string, string][],
  };
}
