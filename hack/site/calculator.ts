/**
 * The calculator of docs/operate/sizing.md: a form with the inputs of `kubectl windowspool size`. It is bundled for browsers, so it imports only pure
 * functions, and nothing of Node.js. Without JavaScript, the page has its tables.
 */
import { INSTANCE_TYPES } from '../../controllers/windowspool/sizing/instanceTypes.ts';
import { type Size, sizeOf } from '../../controllers/windowspool/sizing/size.ts';
import {
  InvalidSize,
  MODES,
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
import { count } from '../../controllers/windowspool/util/words.ts';
import { element, type SiteElement } from './dom.ts';

/** What the user enters. */
export type Inputs = Readonly<Record<keyof typeof FIELDS, string>>;

interface Field {
  readonly label: string;
  readonly initial: string;
  /** The choices; absent: any text. */
  readonly options?: readonly (readonly [value: string, label: string])[];
  readonly hint?: string;
}

const PREFIXES = ['/20', '/21', '/22', '/23', '/24', '/25', '/26', '/27', '/28'];

const FIELDS = {
  instanceType: {
    label: 'Instance type',
    initial: 'm5.large',
    options: INSTANCE_TYPES.map(({ name, vCpus, memoryMiB }) => [
      name,
      `${name} (${count(vCpus, 'vCPU')}, ${memoryText(memoryMiB)})`,
    ]),
  },
  mode: { label: 'IP addresses of pods', initial: 'secondary', options: MODES.map((mode) => [mode, MODE_NAMES[mode]]) },
  pods: { label: 'Pods', initial: '20' },
  cpu: { label: 'CPU request of a pod', initial: '500m', hint: 'such as 500m; empty: none' },
  memory: { label: 'Memory request of a pod', initial: '1Gi', hint: 'such as 1Gi; empty: none' },
  imageSize: { label: 'Images of a node, unpacked', initial: '10Gi', hint: 'the sum, such as 10Gi' },
  subnetPrefix: { label: 'Subnet', initial: '/24', options: PREFIXES.map((prefix) => [prefix, prefix]) },
} as const satisfies Readonly<Record<string, Field>>;

const fields = Object.entries(FIELDS) as readonly (readonly [keyof Inputs, Field])[];

/** The inputs that the form shows first. */
export const INITIAL_INPUTS = Object.fromEntries(fields.map(([name, { initial }]) => [name, initial])) as Inputs;

function requestOf({ instanceType, imageSize, ...texts }: Inputs) {
  const all: SizeTexts = { ...texts, instanceType: [instanceType], imageSize: [imageSize] };
  return readSizeRequest(all, (input) => (FIELDS as Readonly<Record<string, Field>>)[input]?.label ?? input);
}

/** The size for these inputs. Throws InvalidSize, whose message has the label of the field. */
export function answerTo(inputs: Inputs): Size {
  return sizeOf(requestOf(inputs));
}

/** What the size says, as terms with their descriptions. Throws as {@link answerTo}. */
export function linesFor(inputs: Inputs): (readonly [term: string, description: string])[] {
  const request = requestOf(inputs);
  const size = sizeOf(request);
  return [
    ...size.types.flatMap((type): (readonly [string, string])[] => {
      const { podsPerNode, nodes, addresses, addressesPerNode, subnet, replacementMinutes, memoryForPodsMiB } = type;
      return [
        ['Pods per node', `${podsPerNode}, limited by ${limitText(type)}`],
        ...(nodes === null ? [] : [['Nodes', `${nodes}, with ${count(type.pods, 'pod')}`] as const]),
        ['IP addresses', `${addressesPerNode.withPods} per node${addresses === null ? '' : `, ${addresses} in all`}`],
        ...(subnet
          ? ([
              [
                `Empty ${subnet.prefix} subnets`,
                `${subnet.subnets ?? 'none is large enough'} (${subnet.usableAddresses} IP addresses each, at most ${count(subnet.nodesWithPods, 'node')} with pods)`,
              ],
            ] as const)
          : []),
        ['Memory', `${memoryText(memoryForPodsMiB)} for pods. ${memoryAbout(size)}`],
        ['Root volume', volumeAbout(size)],
        ...(replacementMinutes
          ? [['Replacement of all nodes, one by one', timeText(replacementMinutes)] as const]
          : []),
      ];
    }),
    ...size.types.flatMap((type) => remarksOn(type, request.pods).map((remark) => ['Note', remark] as const)),
  ];
}

/** Shows the calculator in an element, in place of its content. It computes again with each input. */
export function mount(host: SiteElement): void {
  const controls = new Map<keyof Inputs, SiteElement>();
  const rows = fields.map(([name, field]) => {
    const id = `sizing-${name}`;
    const control = controlOf(host, id, field);
    controls.set(name, control);
    const label = element(host, 'label', { for: id }, field.label);
    if (field.hint === undefined) return element(host, 'p', {}, [label, control]);
    const hint = element(host, 'small', { id: `${id}-hint` }, field.hint);
    control.setAttribute('aria-describedby', `${id}-hint`);
    return element(host, 'p', {}, [label, control, hint]);
  });
  const result = element(host, 'div', { role: 'status', 'aria-live': 'polite' });
  const update = () => {
    const inputs = Object.fromEntries([...controls].map(([name, { value = '' }]) => [name, value])) as Inputs;
    result.replaceChildren(resultOf(host, inputs));
  };
  const form = element(host, 'form', { 'aria-label': 'Sizing calculator' }, rows);
  form.addEventListener('input', update);
  form.addEventListener('submit', (event) => event.preventDefault());
  host.replaceChildren(form, result);
  update();
}

function controlOf(host: SiteElement, id: string, { options, initial }: Field): SiteElement {
  const control = options
    ? element(
        host,
        'select',
        { id },
        options.map(([value, label]) => element(host, 'option', { value }, label)),
      )
    : element(host, 'input', { id, type: 'text', autocomplete: 'off', spellcheck: 'false' });
  control.value = initial;
  return control;
}

function resultOf(host: SiteElement, inputs: Inputs): SiteElement {
  try {
    const lines = linesFor(inputs);
    return element(
      host,
      'dl',
      {},
      lines.flatMap(([term, text]) => [element(host, 'dt', {}, term), element(host, 'dd', {}, text)]),
    );
  } catch (error) {
    if (!(error instanceof InvalidSize)) throw error;
    return element(host, 'p', {}, error.message);
  }
}
