/** `kubectl windowspool size`: sizes a pool by its instance type, without a cluster and without AWS. */
import { Option } from 'commander';
import { INSTANCE_TYPE_SOURCES, INSTANCE_TYPES } from '../../controllers/windowspool/sizing/instanceTypes.ts';
import { DEFAULT_MAX_PODS } from '../../controllers/windowspool/sizing/kubeletDefaults.ts';
import {
  type Limit,
  type Size,
  type SizeRequest,
  sizeOf,
  type TypeSize,
} from '../../controllers/windowspool/sizing/size.ts';
import {
  InvalidSize,
  MODES,
  RECOMMENDED_RESERVE_MIB,
  readSizeRequest,
  type SizeTexts,
} from '../../controllers/windowspool/sizing/sizeRequest.ts';
import {
  limitText,
  MODE_NAMES,
  memoryAbout,
  memoryText,
  remarksOn,
  timeText,
  volumeAbout,
} from '../../controllers/windowspool/sizing/sizeText.ts';
import type { PluginCommand } from './command.ts';
import { EXIT, Failure } from './failure.ts';
import { outputOption } from './flags.ts';
import { type OutputFormat, printResult } from './output.ts';
import type { Terminal } from './terminal.ts';
import { type Column, labelled, type Paint, table, wrap } from './text.ts';

export interface SizeFlags extends SizeTexts {
  readonly output?: OutputFormat;
}

/** Prints the size. Fails if an input cannot be used. */
function size(terminal: Terminal, { output, ...texts }: SizeFlags): void {
  const request = requestOf(texts);
  const found = sizeOf(request);
  const result = { ...found, sources: INSTANCE_TYPE_SOURCES };
  printResult(terminal, output, result, (columns) => sizeLines(found, request, columns, terminal.paint));
}

/** `addressesPerInterface` -> `--addresses-per-interface` */
function flagOf(input: string): string {
  return `--${input.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function requestOf(texts: SizeTexts): SizeRequest {
  try {
    return readSizeRequest(texts, flagOf);
  } catch (error) {
    throw error instanceof InvalidSize ? new Failure(error.message, EXIT.usage) : error;
  }
}

const limitColumn = (header: string, limit: Limit): Column<TypeSize> => ({
  header,
  value: ({ limits }) => `${limits[limit] ?? ''}`,
  wide: true,
});

const POD_COLUMNS: readonly Column<TypeSize>[] = [
  { header: 'INSTANCE TYPE', value: ({ instanceType }) => instanceType },
  { header: 'VCPUS', value: ({ vCpus }) => `${vCpus}` },
  { header: 'MEMORY', value: ({ memoryMiB }) => memoryText(memoryMiB) },
  { header: 'FOR PODS', value: ({ memoryForPodsMiB }) => memoryText(memoryForPodsMiB) },
  { header: 'PODS', value: ({ podsPerNode }) => `${podsPerNode}` },
  { header: 'LIMITED BY', value: limitText },
  limitColumn('BY ADDRESSES', 'addresses'),
  limitColumn('BY MAXPODS', 'maxPods'),
  limitColumn('BY CPU', 'cpu'),
  limitColumn('BY MEMORY', 'memory'),
];

const NODE_COLUMNS: readonly Column<TypeSize>[] = [
  { header: 'INSTANCE TYPE', value: ({ instanceType }) => instanceType },
  { header: 'NODES', value: ({ nodes }) => `${nodes ?? '-'}` },
  { header: 'PODS', value: ({ pods }) => `${pods}` },
  { header: 'IP ADDRESSES', value: ({ addresses }) => `${addresses ?? '-'}` },
  { header: 'REPLACEMENT', value: ({ replacementMinutes: time }) => (time ? timeText(time) : '-') },
];

const SUBNET_COLUMNS: readonly Column<TypeSize>[] = [
  { header: 'INSTANCE TYPE', value: ({ instanceType }) => instanceType },
  { header: 'NODES WITHOUT PODS', value: ({ subnet }) => `${subnet?.nodesAtStart}` },
  { header: 'NODES WITH PODS', value: ({ subnet }) => `${subnet?.nodesWithPods}` },
  { header: 'SUBNETS', value: ({ subnet }) => `${subnet?.subnets ?? '-'}` },
];

/** The lines for a terminal. */
function sizeLines(found: Size, request: SizeRequest, columns: number, paint: Paint): string[] {
  const { types } = found;
  const remarks = types.flatMap((type) => remarksOn(type, request.pods));
  const subnet = types[0]?.subnet;
  const item = (name: string, text: string) => [`  ${name}`, ...wrap(text, columns, '    ')];
  const section = (title: string, lines: readonly string[]) => ['', paint('title', title), ...lines];
  return [
    paint('title', `Pods per node, with ${MODE_NAMES[request.mode]}`),
    ...table(POD_COLUMNS, types, columns),
    ...section('Nodes, and the time to replace all of them one by one', table(NODE_COLUMNS, types, columns)),
    ...(subnet
      ? section(
          `Nodes in an empty ${subnet.prefix} subnet, which has ${subnet.usableAddresses} IP addresses`,
          table(SUBNET_COLUMNS, types, columns),
        )
      : []),
    ...(remarks.length > 0 ? [''] : []),
    ...remarks.flatMap((remark) => labelled(paint('warning', 'NOTE  '), 'NOTE  '.length, remark, columns)),
    ...section('Memory', wrap(memoryAbout(found), columns, '  ')),
    ...section('Root volume', wrap(volumeAbout(found), columns, '  ')),
    ...section(
      'Replacement of a node',
      found.replacement.flatMap(({ name, fromMinutes: from, toMinutes: to, about, sources }) => [
        ...item(`${name}: ${timeText({ from, to })}`, about),
        ...sources.map(({ url, date }) => `    ${url}${date === undefined ? '' : ` (${date})`}`),
      ]),
    ),
    ...section(
      'What costs money',
      found.priceDrivers.flatMap(({ name, about, url }) => [...item(name, about), `    ${url}`]),
    ),
  ];
}

const repeated = (value: string, previous: readonly string[] = []) => [...previous, value];

/** `kubectl windowspool size`. */
export const sizeCommand: PluginCommand<SizeFlags> = {
  usage: 'size',
  group: 'Workload Commands',
  summary: 'Size a pool: pods per node, IP addresses, disk, memory, the time of a replacement, and what costs money.',
  details: `It needs neither a cluster nor AWS. It knows ${INSTANCE_TYPES.length} instance types; the facts of others are flags.`,
  examples: [
    ['Compare two instance types', 'kubectl windowspool size --instance-type=m5.large,m6i.xlarge'],
    [
      'How many nodes and subnets 200 pods need',
      'kubectl windowspool size --instance-type=m5.xlarge --pods=200 --cpu=500m --memory=1Gi --subnet-prefix=/24',
    ],
    ['With prefix delegation, as JSON', 'kubectl windowspool size --instance-type=m5.large --mode=prefix -o json'],
    [
      'For another instance type',
      'kubectl windowspool size --instance-type=x2idn.16xlarge --addresses-per-interface=50 --vcpus=64 --instance-memory=1024Gi',
    ],
  ],
  options: [
    new Option(
      '--instance-type <type>',
      'Instance type of the nodes. Repeat the flag, or separate types by commas.',
    ).argParser(repeated),
    new Option('--mode <mode>', 'How pods get IP addresses: secondary addresses, or prefix delegation.')
      .choices(MODES)
      .default('secondary'),
    new Option('--nodes <number>', 'Number of nodes. Default: as many as --pods need, or 1.'),
    new Option('--pods <number>', 'Number of pods. Default: as many as fit on the nodes.'),
    new Option('--cpu <quantity>', 'CPU that each pod requests, such as 500m.'),
    new Option('--memory <quantity>', 'Memory that each pod requests, such as 1Gi.'),
    new Option('--subnet-prefix <length>', 'Size of each subnet, such as /24.'),
    new Option(
      '--image-size <quantity>',
      'Unpacked size of an image that a node has, such as 5Gi. Repeat the flag for several images.',
    ).argParser(repeated),
    new Option(
      '--reserved-memory <quantity>',
      `Memory that nodeGroup.kubelet reserves for Windows. Default: ${memoryText(RECOMMENDED_RESERVE_MIB)}.`,
    ),
    new Option('--max-pods <number>', `Value of nodeGroup.kubelet.maxPods. Default: ${DEFAULT_MAX_PODS}.`),
    new Option(
      '--addresses-per-interface <number>',
      'IPv4 addresses of each network interface, for an instance type that is not known.',
    ),
    new Option('--vcpus <number>', 'vCPUs, for an instance type that is not known.'),
    new Option('--instance-memory <quantity>', 'Memory such as 8Gi, for an instance type that is not known.'),
    outputOption(),
  ],
  run: ({ terminal }, _, flags) => size(terminal, flags),
};
