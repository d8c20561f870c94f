import { readFileSync } from 'node:fs';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import { startLocalAws } from './localAws.ts';
import { type Switches, switchTable } from './switches.ts';

const help = `Usage: node hack/localaws/main.ts [options]

A local AWS: EKS, EC2, Auto Scaling and SSM for the unmodified SDK clients, on 127.0.0.1. Ends on Ctrl-C.

  --port N                  port; 0 takes a free one (default 0)
  --cluster NAME            the cluster's name (default local)
  --region REGION           default us-west-2
  --kubernetes-version X.Y  default 1.36
  --kubeconfig FILE         of the user that may register nodes; gives endpoint and CA too. Without it no nodes join
  --endpoint URL            of the API server, for DescribeCluster (default: from --kubeconfig)
  --ca-file FILE            its CA as PEM, for DescribeCluster (default: from --kubeconfig)
  --speed N                 how many times faster than the default, in which CREATING takes 3 s (default 1)
  --policy FILE             IAM policy of the caller (default config/aws/iam-policy.json)
  --switch NAME=VALUE       what no source settles about EKS; may be repeated:
${Object.entries(switchTable)
  .map(([name, values]) => `                              ${name}=${values.join('|')}`)
  .join('\n')}
  --help                    this text
`;

const options = {
  port: { type: 'string', default: '0' },
  cluster: { type: 'string', default: 'local' },
  region: { type: 'string', default: 'us-west-2' },
  'kubernetes-version': { type: 'string', default: '1.36' },
  kubeconfig: { type: 'string' },
  endpoint: { type: 'string' },
  'ca-file': { type: 'string' },
  speed: { type: 'string', default: '1' },
  policy: { type: 'string' },
  switch: { type: 'string', multiple: true, default: [] },
  help: { type: 'boolean', default: false },
} satisfies ParseArgsConfig['options'];

async function main(): Promise<void> {
  const { values } = parseArgs({ options });
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  const { kubeconfig, policy } = values;
  const known = kubeconfig === undefined ? undefined : clusterIn(kubeconfig);
  const caFile = values['ca-file'];
  const cloud = await startLocalAws({
    cluster: {
      name: values.cluster,
      region: values.region,
      kubernetesVersion: values['kubernetes-version'],
      endpoint: values.endpoint ?? known?.server ?? '',
      caData: caFile === undefined ? (known?.caData ?? '') : readFileSync(caFile).toString('base64'),
    },
    port: numberOf('--port', values.port),
    speed: numberOf('--speed', values.speed),
    switches: switchesIn(values.switch),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(policy === undefined ? {} : { policy }),
  });
  process.stdout.write(`${cloud.url}\n`);
  const stop = (): void => {
    cloud.stop().catch((error: unknown) => fail(error));
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

function clusterIn(kubeconfig: string) {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return config.getCurrentCluster() ?? undefined;
}

function numberOf(flag: string, text: string): number {
  const number = Number(text);
  if (text.trim() === '' || Number.isNaN(number)) throw new RangeError(`${flag} is '${text}'; give a number`);
  return number;
}

function switchesIn(settings: readonly string[]): Partial<Switches> {
  return Object.fromEntries(
    settings.map((setting) => {
      const [name, value] = setting.split('=');
      if (name === undefined || value === undefined) throw new RangeError(`--switch is '${setting}'; give NAME=VALUE`);
      return [name, value];
    }),
  );
}

function fail(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

main().catch(fail);
