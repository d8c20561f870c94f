import { readFileSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { Command, InvalidArgumentError } from 'commander';
import { startLocalAws } from './localAws.ts';
import { type Switches, switchTable } from './switches.ts';

const switchValues = Object.entries(switchTable).map(([name, values]) => `${name}=${values.join('|')}`);

const program = new Command('node test/fakes/localaws/main.ts')
  .description(
    'A local AWS: EKS, EC2, Auto Scaling and SSM for the unmodified SDK clients, on 127.0.0.1. Ends on Ctrl-C.',
  )
  .option('--port <number>', 'port; 0 takes a free one', toNumber, 0)
  .option('--cluster <name>', "the cluster's name", 'local')
  .option('--region <name>', "the cluster's region", 'us-west-2')
  .option('--kubernetes-version <x.y>', "the cluster's version", '1.36')
  .option(
    '--kubeconfig <file>',
    'of the user that may register nodes; gives endpoint and CA too. Without it no nodes join',
  )
  .option('--endpoint <url>', 'of the API server, for DescribeCluster (default: from --kubeconfig)')
  .option('--ca-file <file>', 'its CA as PEM, for DescribeCluster (default: from --kubeconfig)')
  .option('--speed <number>', 'how many times faster than the default, in which CREATING takes 3 s', toNumber, 1)
  .option('--policy <file>', 'IAM policy of the caller (default: all in config/aws)')
  .option(
    '--switch <name=value>',
    `what no source settles about EKS; may be repeated:\n${switchValues.join('\n')}`,
    addSwitch,
  )
  .action(main);

interface Flags {
  readonly port: number;
  readonly cluster: string;
  readonly region: string;
  readonly kubernetesVersion: string;
  readonly kubeconfig?: string;
  readonly endpoint?: string;
  readonly caFile?: string;
  readonly speed: number;
  readonly policy?: string;
  readonly switch?: Partial<Switches>;
}

async function main(flags: Flags): Promise<void> {
  const { port, cluster: name, region, kubernetesVersion, kubeconfig, caFile, speed, policy } = flags;
  const known = kubeconfig === undefined ? undefined : clusterIn(kubeconfig);
  const cloud = await startLocalAws({
    cluster: {
      name,
      region,
      kubernetesVersion,
      endpoint: flags.endpoint ?? known?.server ?? '',
      caData: caFile === undefined ? (known?.caData ?? '') : readFileSync(caFile).toString('base64'),
    },
    port,
    speed,
    switches: flags.switch ?? {},
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

function toNumber(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || Number.isNaN(number)) throw new InvalidArgumentError('Give a number.');
  return number;
}

function addSwitch(setting: string, others: Partial<Switches> = {}): Partial<Switches> {
  const [name, value] = setting.split('=');
  if (name === undefined || value === undefined) throw new InvalidArgumentError('Give NAME=VALUE.');
  return { ...others, [name]: value };
}

function fail(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

program.parseAsync().catch(fail);
