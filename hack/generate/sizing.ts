/** The tables of docs/operate/sizing.md, from the functions of controllers/windowspool/sizing. */
import { readFile } from 'node:fs/promises';
import { INSTANCE_TYPES, type SizedType } from '../../controllers/windowspool/sizing/instanceTypes.ts';
import { DEFAULT_MAX_PODS, MOST_PODS } from '../../controllers/windowspool/sizing/kubeletDefaults.ts';
import { PRICE_DRIVERS } from '../../controllers/windowspool/sizing/priceDrivers.ts';
import {
  REPLACEMENT_PHASES,
  replacementMinutes,
  type Source,
} from '../../controllers/windowspool/sizing/replacement.ts';
import { rootVolumeFor } from '../../controllers/windowspool/sizing/rootVolume.ts';
import { type SizeRequest, sizeOf, type TypeSize } from '../../controllers/windowspool/sizing/size.ts';
import { RECOMMENDED_RESERVE_MIB } from '../../controllers/windowspool/sizing/sizeRequest.ts';
import { MODE_NAMES, memoryText, timeText } from '../../controllers/windowspool/sizing/sizeText.ts';
import { withTable } from './table.ts';

const PAGE = 'docs/operate/sizing.md';
const PAGE_URL = new URL(`../../${PAGE}`, import.meta.url);

type Rows = readonly (readonly string[])[];

/** The page with its tables. */
export async function sizingPage(): Promise<string> {
  const tables: Readonly<Record<string, Rows>> = {
    'sizing-pods': podRows(),
    'sizing-subnets': subnetRows(),
    'sizing-memory': memoryRows(),
    'sizing-disks': diskRows(),
    'sizing-time': timeRows(),
    'sizing-prices': priceRows(),
  };
  return Object.entries(tables).reduce(
    (page, [name, rows]) => withTable(PAGE, page, name, rows),
    await readFile(PAGE_URL, 'utf8'),
  );
}

function sizeWith(type: SizedType, change: Partial<SizeRequest>): TypeSize {
  const defaults = { mode: 'secondary', reservedMiB: RECOMMENDED_RESERVE_MIB, maxPods: DEFAULT_MAX_PODS } as const;
  const [size] = sizeOf({ types: [type], ...defaults, imagesGiB: 0, ...change }).types;
  if (!size) throw new Error(`no size of ${type.name}`);
  return size;
}

/** The types in groups of equal keys, by ascending key. */
function groupedBy(key: (type: SizedType) => number): SizedType[][] {
  const groups = Map.groupBy(INSTANCE_TYPES, key);
  return [...groups].toSorted(([a], [b]) => a - b).map(([, types]) => types);
}

function podRows(): Rows {
  return [
    [
      'IP addresses',
      'instance types',
      MODE_NAMES.secondary,
      `${MODE_NAMES.prefix}, maxPods ${DEFAULT_MAX_PODS}`,
      `${MODE_NAMES.prefix}, maxPods ${MOST_PODS}`,
    ],
    ...groupedBy(({ addressesPerInterface }) => addressesPerInterface).flatMap((types) => {
      const [first] = types;
      if (!first) return [];
      const pods = (change: Partial<SizeRequest>) => `${sizeWith(first, change).podsPerNode}`;
      return [
        [
          `${first.addressesPerInterface}`,
          namesOf(types),
          pods({}),
          pods({ mode: 'prefix' }),
          pods({ mode: 'prefix', maxPods: MOST_PODS }),
        ],
      ];
    }),
  ];
}

/** `large of m5, m6i; xlarge, 2xlarge of t3`: the sizes with the same families together. */
function namesOf(types: readonly SizedType[]): string {
  const partsOf = ({ name }: SizedType) => name.split('.') as [family: string, size: string];
  const bySize = Map.groupBy(types, (type) => partsOf(type)[1]);
  const byFamilies = Map.groupBy([...bySize], ([, those]) => those.map((type) => partsOf(type)[0]).join(', '));
  return [...byFamilies]
    .map(([families, sizes]) => `${sizes.map(([size]) => `\`${size}\``).join(', ')} of ${families}`)
    .join('; ');
}

const SUBNET_PREFIXES = [26, 24, 22, 20];

/** A type for each usual number of pods, and in prefix mode as many pods as the kubelet accepts. */
const SUBNET_EXAMPLES: readonly (readonly [type: string, mode: SizeRequest['mode'], maxPods: number])[] = [
  ['m5.large', 'secondary', DEFAULT_MAX_PODS],
  ['m5.xlarge', 'secondary', DEFAULT_MAX_PODS],
  ['m5.4xlarge', 'secondary', DEFAULT_MAX_PODS],
  ['m5.large', 'prefix', 15],
  ['m5.large', 'prefix', 30],
  ['m5.xlarge', 'prefix', DEFAULT_MAX_PODS],
];

function subnetRows(): Rows {
  return [
    ['pods per node', 'mode', 'for example', 'IP addresses per node', ...SUBNET_PREFIXES.map((prefix) => `/${prefix}`)],
    ...SUBNET_EXAMPLES.flatMap(([name, mode, maxPods]) => {
      const type = INSTANCE_TYPES.find((each) => each.name === name);
      if (!type) throw new Error(`${name} is not in the list of instance types`);
      const sizes = SUBNET_PREFIXES.map((subnetPrefix) => sizeWith(type, { mode, maxPods, subnetPrefix }));
      const { podsPerNode = 0, addressesPerNode } = sizes[0] ?? {};
      return [
        [
          `${podsPerNode}`,
          MODE_NAMES[mode],
          `\`${name}\``,
          `${addressesPerNode?.withPods}`,
          ...sizes.map(({ subnet }) => `${subnet?.nodesWithPods}`),
        ],
      ];
    }),
  ];
}

const MEMORIES_GIB = [4, 8, 16, 32, 64];
const REQUESTS_MIB = [512, 1024, 4096];

function memoryRows(): Rows {
  const [example] = INSTANCE_TYPES;
  if (!example) throw new Error('there are no instance types');
  return [
    ['memory of the instance type', 'for pods', ...REQUESTS_MIB.map((mib) => `pods of ${memoryText(mib)}`)],
    ...MEMORIES_GIB.map((gib) => {
      const type = { ...example, memoryMiB: gib * 1024 };
      const pods = (memoryMiB: number) => `${sizeWith(type, { memoryMiB }).limits.memory}`;
      return [`${gib}Gi`, memoryText(sizeWith(type, {}).memoryForPodsMiB), ...REQUESTS_MIB.map(pods)];
    }),
  ];
}

const IMAGES_GIB = [20, 40, 80, 160];

function diskRows(): Rows {
  return [
    ['all images, unpacked', 'root volume'],
    ...IMAGES_GIB.map((images) => [`${images} GiB`, `${rootVolumeFor(images)} GiB`]),
  ];
}

const linkTo = ({ url, date }: Source, index: number) =>
  `[${index + 1}](${url})${date === undefined ? '' : ` (${date})`}`;

function timeRows(): Rows {
  return [
    ['phase', 'time', 'what happens', 'sources'],
    ...REPLACEMENT_PHASES.map(({ name, fromMinutes: from, toMinutes: to, about, sources }) => [
      name,
      timeText({ from, to }),
      about,
      sources.map(linkTo).join(', '),
    ]),
    ['One node', timeText(replacementMinutes(1)), 'The sum.', ''],
    ['Ten nodes, one by one', timeText(replacementMinutes(10)), '', ''],
  ];
}

function priceRows(): Rows {
  return [
    ['what', 'depends on', 'prices'],
    ...PRICE_DRIVERS.map(({ name, about, url }) => [name, about, `[AWS](${url})`]),
  ];
}
