/**
 * The fields of a Node that the operator keeps. Field numbers are those of generated.proto in k8s.io/api v0.36 core/v1 and
 * k8s.io/apimachinery v0.36 meta/v1, and never change. To keep another field, add a line here and one to NodeRecord.
 */
import {
  OPERATION_ANNOTATIONS,
  OWN_CONDITIONS,
  OWNERSHIP_ANNOTATION,
  VERIFIED_CONDITION,
} from '../windowspool/api/labels.ts';
import {
  NODE_RESOURCES,
  type NodeCondition,
  type NodeRecord,
  type Taint,
  type TaintEffect,
} from '../windowspool/ports/nodes.ts';
import {
  entriesOf,
  entry,
  flag,
  identifier,
  itemsOf,
  type Kind,
  kind,
  presence,
  problem,
  quantitiesOf,
  repeated,
  sentence,
  shared,
  sharedIdentifier,
  sharedText,
  sharedTexts,
  text,
  textMap,
  time,
  unread,
} from './fieldKinds.ts';
import { type FieldTable, jsonReader, protobufReader, protobufValueReader } from './fields.ts';
import type { MessageReader } from './messageReader.ts';

interface TaintFields {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

/** Without timeAdded, which is not used. */
const taints = shared(
  repeated<TaintFields, Taint>(
    { key: sharedText('key=1'), value: sharedText('value=2'), effect: sharedText('effect=3') },
    ({ key, value, effect: any }) => {
      const effect = any as TaintEffect;
      return value === '' ? { key, effect } : { key, value, effect };
    },
  ),
);

const addressField = sharedText('address=2');
const addressInProtobuf = protobufValueReader(addressField);
const addressInJson = jsonReader<{ readonly address: string }>({ address: addressField });
/** More than the addresses of any Windows instance type: 50 of its first network interface, and the names. Later ones are ignored. */
const MOST_ADDRESSES = 128;
const noAddresses: readonly string[] = Object.freeze([]);

/** Hostname, InternalDNS and the label kubernetes.io/hostname are usually equal, so the string is interned. */
const addresses = kind<readonly string[]>({
  absent: noAddresses,
  fromProtobuf: (reader, before) => withAddress(before, () => addressInProtobuf(reader)),
  fromJson: (value) =>
    itemsOf(value).reduce<readonly string[]>(
      (before, item) => withAddress(before, () => addressInJson(item).address),
      noAddresses,
    ),
});

function withAddress(before: readonly string[], read: () => string): readonly string[] {
  if (before.length >= MOST_ADDRESSES) return before;
  const address = read();
  // concat allocates exactly this length; a literal with a spread over-allocates.
  return before.includes(address) ? before : before.concat(address);
}

const noNames: readonly string[] = Object.freeze([]);

interface ItemReaders<T> {
  readonly read: (reader: MessageReader) => T;
  readonly readJson: (item: unknown) => T;
}

function readersOf<T extends object>(fields: FieldTable<T>): ItemReaders<T> {
  return { read: protobufReader(fields), readJson: jsonReader(fields) };
}

/**
 * The names of a list of messages, at most `most`, and those in `always`: equal lists are one object. `namesOf` returns undefined for an item that is
 * left out.
 */
function sharedNames<T extends object>(
  { read, readJson }: ItemReaders<T>,
  namesOf: (item: T) => string | readonly string[] | undefined,
  most: number,
  always: readonly string[] = [],
) {
  const add = (names: readonly string[], found: ReturnType<typeof namesOf>): readonly string[] => {
    if (found === undefined) return names;
    const isNeeded = typeof found === 'string' && always.includes(found) && !names.includes(found);
    if (names.length >= most && !isNeeded) return names;
    // A list other than noNames was created by this reader, and is not published yet.
    const list = names === noNames ? [] : (names as string[]);
    if (typeof found === 'string') list.push(found);
    else for (const name of found) if (list.length < most) list.push(name);
    return list;
  };
  return shared(
    kind<readonly string[], T>({
      absent: noNames,
      read,
      fromProtobuf: (item, before) => add(before, namesOf(item)),
      fromJson: (value) =>
        itemsOf(value).reduce<readonly string[]>((names, item) => add(names, namesOf(readJson(item))), noNames),
    }),
  );
}

/** containerd's configuration names a handful. Later ones are ignored. */
const MOST_HANDLERS = 64;
const handlerNames = sharedNames(
  readersOf<{ readonly name: string }>({ name: sharedText('name=1') }),
  ({ name }) => name,
  MOST_HANDLERS,
);

/** The kubelet reports 5 names of each of 50 images. Later ones are ignored. */
const MOST_IMAGE_NAMES = 256;
const imageNames = sharedNames(
  readersOf<{ readonly names: readonly string[] }>({ names: sharedTexts('names=1') }),
  ({ names }) => names,
  MOST_IMAGE_NAMES,
);

const ownership = entry(OWNERSHIP_ANNOTATION);
const annotations = entriesOf(...OPERATION_ANNOTATIONS);
const resources = shared(quantitiesOf(...NODE_RESOURCES));

interface ConditionKey {
  readonly type: string;
  readonly status: string;
}

interface Condition extends ConditionKey {
  readonly since: number;
  readonly reason: string;
  readonly message: string;
}

const READ_ELSEWHERE: readonly string[] = ['Ready', VERIFIED_CONDITION];

const [conditionType, conditionStatus] = [sharedText('type=1'), sharedText('status=2')];
const readType = protobufValueReader(conditionType);
const readStatus = protobufValueReader(conditionStatus);
const keyInJson = jsonReader<ConditionKey>({ type: conditionType, status: conditionStatus });
const { read: readWhole, readJson: conditionInJson } = readersOf<Condition>({
  type: conditionType,
  status: conditionStatus,
  since: time('lastTransitionTime=4'),
  reason: sharedText('reason=5'),
  message: sentence('message=6'),
});

/** Of most conditions, only the type and the status are read. */
function readCondition(reader: MessageReader): Condition {
  const start = reader.at;
  const type = readType(reader);
  reader.at = start;
  if (READ_ELSEWHERE.includes(type)) return readWhole(reader);
  return { type, status: readStatus(reader), since: 0, reason: '', message: '' };
}

/** The kubelet sets 5, and a node problem detector about 10. Later ones are ignored, except those of the operator, which it would write again and again. */
const MOST_CONDITIONS = 64;
const conditionStates = sharedNames<ConditionKey>(
  { read: readCondition, readJson: keyInJson },
  ({ type, status }) => (READ_ELSEWHERE.includes(type) ? undefined : `${type}=${status}`),
  MOST_CONDITIONS,
  OWN_CONDITIONS.flatMap((type) => ['True', 'False'].map((status) => `${type}=${status}`)),
);

/** Picks from the condition of one type. If a type occurs more than once, the first one counts: a patch by the type changes that. */
function ofCondition<T>(type: string, absent: T, pick: (condition: Condition) => T): Kind<T, Condition> {
  return kind<T, Condition>({
    absent,
    read: readCondition,
    fromProtobuf: (condition, before) => (before === absent && condition.type === type ? pick(condition) : before),
    fromJson: (value) =>
      itemsOf(value)
        .map(conditionInJson)
        .filter((condition) => condition.type === type)
        .reduce((before, wanted) => (before === absent ? pick(wanted) : before), absent),
  });
}

/** How many conditions are known. Nodes that pass their checks have one for each pool, and events of all pools are mixed. */
const MOST_VERIFIED = 256;

/** The operator's own condition. It is the same on most nodes of a pool: equal ones are one object as long as they are known. */
const verified = (() => {
  const known = new Map<string, NodeCondition>();
  return ofCondition<NodeCondition | undefined>(VERIFIED_CONDITION, undefined, ({ status, reason, message }) => {
    const before = known.get(message);
    if (before?.status === status && before.reason === reason) return before;
    if (known.size >= MOST_VERIFIED) known.clear();
    const condition = { status: status as NodeCondition['status'], reason, message };
    known.set(message, condition);
    return condition;
  });
})();

/** The last transition of the operator's own condition. */
const verifiedSince = ofCondition(VERIFIED_CONDITION, 0, ({ since }) => since);

const readyStatus = ofCondition<NodeRecord['ready']>('Ready', 'Unknown', ({ status }) =>
  status === 'True' || status === 'False' ? status : 'Unknown',
);
const readyReason = ofCondition('Ready', '', ({ reason }) => reason);
/** A duration in the message of a kubelet: `pleg was last seen active 3m5.1s ago`. */
const DURATION = /\b\d+(?:\.\d+)?(?:h|m|s|ms)(?:\d+(?:\.\d+)?(?:m|s|ms))*\b/g;
const readyMessage = ofCondition('Ready', '', ({ status, message }) =>
  status === 'True' ? '' : message.replace(DURATION, '…'),
);

export const nodeFields: FieldTable<NodeRecord> = {
  name: sharedIdentifier('metadata=1', 'name=1'),
  uid: identifier('metadata=1', 'uid=5'),
  resourceVersion: identifier('metadata=1', 'resourceVersion=6'),
  createdAt: time('metadata=1', 'creationTimestamp=8'),
  deleting: presence('metadata=1', 'deletionTimestamp=9'),
  labels: textMap('metadata=1', 'labels=11'),
  ownership: ownership('metadata=1', 'annotations=12'),
  annotations: annotations('metadata=1', 'annotations=12'),
  providerID: text('spec=2', 'providerID=3'),
  unschedulable: flag('spec=2', 'unschedulable=4'),
  taints: taints('spec=2', 'taints=5'),
  ready: readyStatus('status=3', 'conditions=4'),
  readyReason: readyReason('status=3', 'conditions=4'),
  readyMessage: readyMessage('status=3', 'conditions=4'),
  verified: verified('status=3', 'conditions=4'),
  verifiedSince: verifiedSince('status=3', 'conditions=4'),
  conditions: conditionStates('status=3', 'conditions=4'),
  images: imageNames('status=3', 'images=8'),
  kernelVersion: sharedText('status=3', 'nodeInfo=7', 'kernelVersion=4'),
  containerRuntimeVersion: sharedText('status=3', 'nodeInfo=7', 'containerRuntimeVersion=6'),
  runtimeHandlers: handlerNames('status=3', 'runtimeHandlers=12'),
  kubeletVersion: sharedText('status=3', 'nodeInfo=7', 'kubeletVersion=7'),
  operatingSystem: sharedText('status=3', 'nodeInfo=7', 'operatingSystem=9'),
  architecture: sharedText('status=3', 'nodeInfo=7', 'architecture=10'),
  addresses: addresses('status=3', 'addresses=5'),
  capacity: resources('status=3', 'capacity=1'),
  allocatable: resources('status=3', 'allocatable=2'),
  unreadable: problem,
};

/** Without images, which take more time to decode than all other fields together. */
export const nodeFieldsWithoutImages: FieldTable<NodeRecord> = { ...nodeFields, images: unread };
