/** Instance types whose size is known without a call to AWS, and which of them can run Windows pods. Pure. */
import type { InstanceType } from '../ports/prerequisites.ts';
import { joined } from '../util/words.ts';

/** An instance type, as far as its size matters. */
export interface SizedType extends InstanceType {
  readonly addressesPerInterface: number;
  readonly memoryMiB: number;
  readonly vCpus: number;
}

/** Where the figures of {@link INSTANCE_TYPES} are from: lists that these projects generate from DescribeInstanceTypes. */
export const INSTANCE_TYPE_SOURCES = [
  {
    what: 'IP addresses for each network interface',
    url: 'https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/b8d425119bdba371202882b808f202c6073a46cc/pkg/aws/vpc/limits.go',
    date: '2026-04-23',
  },
  {
    what: 'vCPUs and memory',
    url: 'https://github.com/kubernetes/autoscaler/blob/55c37cd5eb550756c5ccc5a89e9068d77797e575/cluster-autoscaler/cloudprovider/aws/ec2_instance_types.go',
    date: '2026-01-22',
  },
] as const;

const GIB_IN_MIB = 1024;

type Row = readonly [name: string, vCpus: number, memoryGiB: number, addressesPerInterface: number];

const ROWS: readonly Row[] = [
  ['t3.medium', 2, 4, 6],
  ['t3.large', 2, 8, 12],
  ['t3.xlarge', 4, 16, 15],
  ['t3.2xlarge', 8, 32, 15],
  ['t3a.medium', 2, 4, 6],
  ['t3a.large', 2, 8, 12],
  ['t3a.xlarge', 4, 16, 15],
  ['t3a.2xlarge', 8, 32, 15],
  ['m5.large', 2, 8, 10],
  ['m5.xlarge', 4, 16, 15],
  ['m5.2xlarge', 8, 32, 15],
  ['m5.4xlarge', 16, 64, 30],
  ['m5.8xlarge', 32, 128, 30],
  ['m5.12xlarge', 48, 192, 30],
  ['m5.16xlarge', 64, 256, 50],
  ['m5.24xlarge', 96, 384, 50],
  ['m5a.large', 2, 8, 10],
  ['m5a.xlarge', 4, 16, 15],
  ['m5a.2xlarge', 8, 32, 15],
  ['m5a.4xlarge', 16, 64, 30],
  ['m5a.8xlarge', 32, 128, 30],
  ['m5a.12xlarge', 48, 192, 30],
  ['m5a.16xlarge', 64, 256, 50],
  ['m5a.24xlarge', 96, 384, 50],
  ['m6i.large', 2, 8, 10],
  ['m6i.xlarge', 4, 16, 15],
  ['m6i.2xlarge', 8, 32, 15],
  ['m6i.4xlarge', 16, 64, 30],
  ['m6i.8xlarge', 32, 128, 30],
  ['m6i.12xlarge', 48, 192, 30],
  ['m6i.16xlarge', 64, 256, 50],
  ['m6i.24xlarge', 96, 384, 50],
  ['m7i.large', 2, 8, 10],
  ['m7i.xlarge', 4, 16, 15],
  ['m7i.2xlarge', 8, 32, 15],
  ['m7i.4xlarge', 16, 64, 30],
  ['m7i.8xlarge', 32, 128, 30],
  ['m7i.12xlarge', 48, 192, 30],
  ['m7i.16xlarge', 64, 256, 50],
  ['m7i.24xlarge', 96, 384, 50],
  ['m7a.medium', 1, 4, 4],
  ['m7a.large', 2, 8, 10],
  ['m7a.xlarge', 4, 16, 15],
  ['m7a.2xlarge', 8, 32, 15],
  ['m7a.4xlarge', 16, 64, 30],
  ['m7a.8xlarge', 32, 128, 30],
  ['m7a.12xlarge', 48, 192, 30],
  ['m7a.16xlarge', 64, 256, 50],
  ['m7a.24xlarge', 96, 384, 50],
  ['m8i.large', 2, 8, 20],
  ['m8i.xlarge', 4, 16, 30],
  ['m8i.2xlarge', 8, 32, 30],
  ['m8i.4xlarge', 16, 64, 50],
  ['m8i.8xlarge', 32, 128, 50],
  ['m8i.12xlarge', 48, 192, 50],
  ['m8i.16xlarge', 64, 256, 64],
  ['m8i.24xlarge', 96, 384, 64],
  ['c5.large', 2, 4, 10],
  ['c5.xlarge', 4, 8, 15],
  ['c5.2xlarge', 8, 16, 15],
  ['c5.4xlarge', 16, 32, 30],
  ['c5.12xlarge', 48, 96, 30],
  ['c5.24xlarge', 96, 192, 50],
  ['c6i.large', 2, 4, 10],
  ['c6i.xlarge', 4, 8, 15],
  ['c6i.2xlarge', 8, 16, 15],
  ['c6i.4xlarge', 16, 32, 30],
  ['c6i.8xlarge', 32, 64, 30],
  ['c6i.12xlarge', 48, 96, 30],
  ['c6i.16xlarge', 64, 128, 50],
  ['c6i.24xlarge', 96, 192, 50],
  ['c6a.large', 2, 4, 10],
  ['c6a.xlarge', 4, 8, 15],
  ['c6a.2xlarge', 8, 16, 15],
  ['c6a.4xlarge', 16, 32, 30],
  ['c6a.8xlarge', 32, 64, 30],
  ['c6a.12xlarge', 48, 96, 30],
  ['c6a.16xlarge', 64, 128, 50],
  ['c6a.24xlarge', 96, 192, 50],
  ['c7i.large', 2, 4, 10],
  ['c7i.xlarge', 4, 8, 15],
  ['c7i.2xlarge', 8, 16, 15],
  ['c7i.4xlarge', 16, 32, 30],
  ['c7i.8xlarge', 32, 64, 30],
  ['c7i.12xlarge', 48, 96, 30],
  ['c7i.16xlarge', 64, 128, 50],
  ['c7i.24xlarge', 96, 192, 50],
  ['r5.large', 2, 16, 10],
  ['r5.xlarge', 4, 32, 15],
  ['r5.2xlarge', 8, 64, 15],
  ['r5.4xlarge', 16, 128, 30],
  ['r5.8xlarge', 32, 256, 30],
  ['r5.12xlarge', 48, 384, 30],
  ['r5.16xlarge', 64, 512, 50],
  ['r5.24xlarge', 96, 768, 50],
  ['r6i.large', 2, 16, 10],
  ['r6i.xlarge', 4, 32, 15],
  ['r6i.2xlarge', 8, 64, 15],
  ['r6i.4xlarge', 16, 128, 30],
  ['r6i.8xlarge', 32, 256, 30],
  ['r6i.12xlarge', 48, 384, 30],
  ['r6i.16xlarge', 64, 512, 50],
  ['r6i.24xlarge', 96, 768, 50],
  ['r7i.large', 2, 16, 10],
  ['r7i.xlarge', 4, 32, 15],
  ['r7i.2xlarge', 8, 64, 15],
  ['r7i.4xlarge', 16, 128, 30],
  ['r7i.8xlarge', 32, 256, 30],
  ['r7i.12xlarge', 48, 384, 30],
  ['r7i.16xlarge', 64, 512, 50],
  ['r7i.24xlarge', 96, 768, 50],
];

/** Current types of general purpose, compute and memory families on x86_64, all on the Nitro system. The source is {@link INSTANCE_TYPE_SOURCES}. */
export const INSTANCE_TYPES: readonly SizedType[] = ROWS.map(([name, vCpus, memoryGiB, addressesPerInterface]) => ({
  name,
  architectures: ['x86_64'],
  isNitro: true,
  vCpus,
  memoryMiB: memoryGiB * GIB_IN_MIB,
  addressesPerInterface,
}));

/** Why Windows pods cannot run on that type, without a full stop; undefined if they can. What EC2 does not report is no reason. */
export function whyUnsuitable({ name, architectures, addressesPerInterface }: InstanceType): string | undefined {
  if (!architectures.includes('x86_64'))
    return `Instance type ${name} is ${joined(architectures)}, and Windows nodes need x86_64`;
  // One address is the node's own: https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html
  if (addressesPerInterface !== undefined && addressesPerInterface < 2)
    return `Instance type ${name} has no IP addresses for pods`;
  return undefined;
}
