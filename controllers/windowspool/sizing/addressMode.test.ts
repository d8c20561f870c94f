import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isIpamOn } from '../checks/windowsIpam.ts';
import type { InstanceType } from '../ports/prerequisites.ts';
import { textTable } from '../testing/goldenTexts.ts';
import {
  addressesAtStart,
  addressesWhenFull,
  addressesWith,
  addressModeOf,
  describeMode,
  ignoredSettings,
  podsPerNode,
} from './addressMode.ts';

const nitro: InstanceType = { name: 'm5.large', architectures: ['x86_64'], addressesPerInterface: 10, isNitro: true };
const xen: InstanceType = { ...nitro, name: 'm4.large', isNitro: false };
const unknown: InstanceType = { ...nitro, addressesPerInterface: undefined };

type Data = Readonly<Record<string, string>>;
const withPrefixes = (more: Data = {}): Data => ({ 'enable-windows-prefix-delegation': 'true', ...more });

describe('Windows IPAM', () => {
  it('is enabled for what the VPC resource controller parses as true, and for nothing else', () => {
    const values = ['true', 'True', 'TRUE', 't', 'T', '1', 'tRUE', 'yes', 'on', ' true', '', 'false', '0', 'F'];
    const on = values.filter((value) => isIpamOn({ 'enable-windows-ipam': value }));
    assert.deepEqual([on, isIpamOn({}), isIpamOn(undefined)], [['true', 'True', 'TRUE', 't', 'T', '1'], false, false]);
  });
});

describe('the addresses that a node uses before it has pods, including its own', () => {
  /** The rows without pods of the tables in docs/windows of amazon-vpc-resource-controller-k8s, and the older names. */
  const rows: readonly [what: string, data: Data | undefined, used: number][] = [
    ['without a ConfigMap', undefined, 4],
    ['without targets', {}, 4],
    ['with warm 1 and minimum 0', { 'windows-warm-ip-target': '1', 'windows-minimum-ip-target': '0' }, 2],
    ['with warm 5 and minimum 0', { 'windows-warm-ip-target': '5', 'windows-minimum-ip-target': '0' }, 6],
    [
      'with warm 5 and minimum 10, more than the interface has',
      { 'warm-ip-target': '5', 'minimum-ip-target': '10' },
      10,
    ],
    [
      'with warm 1 and minimum 3, the values that the add-on writes',
      { 'warm-ip-target': '1', 'minimum-ip-target': '3' },
      4,
    ],
    ['with warm 0, which becomes 1', { 'windows-warm-ip-target': '0' }, 2],
    ['with only minimum 0, which is not a target', { 'windows-minimum-ip-target': '0' }, 4],
    [
      'with both names, of which the older one takes precedence',
      { 'windows-warm-ip-target': '5', 'warm-ip-target': '2' },
      3,
    ],
    ['with a target that is not a number and is ignored', { 'windows-warm-ip-target': 'many' }, 4],
    ['with an invalid target and minimum 0', { 'warm-ip-target': 'abc', 'minimum-ip-target': '0' }, 4],
    ['with an invalid target and minimum 2', { 'warm-ip-target': 'abc', 'minimum-ip-target': '2' }, 3],
    ['with an invalid value of the older name', { 'warm-ip-target': 'abc', 'windows-warm-ip-target': '5' }, 4],
    ['with a warm prefix, which counts only in prefix mode', { 'warm-prefix-target': '2' }, 4],
    ['with prefixes', withPrefixes(), 17],
    ['with prefixes and warm 5', withPrefixes({ 'warm-ip-target': '5' }), 17],
    ['with prefixes, warm 7 and minimum 20', withPrefixes({ 'warm-ip-target': '7', 'minimum-ip-target': '20' }), 33],
    ['with 1 warm prefix', withPrefixes({ 'warm-prefix-target': '1' }), 17],
    ['with 3 warm prefixes', withPrefixes({ 'windows-warm-prefix-target': '3' }), 49],
    [
      'with warm addresses, which take precedence over warm prefixes',
      withPrefixes({ 'warm-prefix-target': '3', 'warm-ip-target': '1' }),
      17,
    ],
    ['with more warm prefixes than the interface has room for', withPrefixes({ 'warm-prefix-target': '20' }), 145],
    ['with an invalid value of the prefix setting', { 'enable-windows-prefix-delegation': 'yes' }, 4],
  ];
  for (const [what, data, used] of rows)
    it(`are ${used} ${what}`, () => assert.equal(addressesAtStart(addressModeOf(data), nitro), used));

  it('are those of secondary mode on Xen, whatever the prefix targets', () => {
    assert.equal(addressesAtStart(addressModeOf(withPrefixes({ 'warm-prefix-target': '3' })), xen), 4);
    assert.equal(addressesAtStart(addressModeOf({ 'warm-ip-target': '5' }), xen), 6);
  });

  it('are never more than the node uses when it is full', () => {
    const target = fc.nat({ max: 400 }).map(String);
    const data = fc.record(
      {
        'enable-windows-prefix-delegation': fc.constantFrom('true', 'false'),
        'warm-ip-target': target,
        'windows-minimum-ip-target': target,
        'warm-prefix-target': target,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(data, fc.constantFrom(nitro, xen), (settings, type) => {
        const mode = addressModeOf(settings as Data);
        const start = addressesAtStart(mode, type);
        return start > 1 && start <= (addressesWhenFull(mode, type) ?? 0);
      }),
    );
  });
});

describe('the addresses that a node with pods uses', () => {
  /** Rows with pods of the table in docs/windows/prefix_delegation_config_options.md of amazon-vpc-resource-controller-k8s. */
  const rows: readonly [data: Data, pods: number, prefixes: number][] = [
    [{}, 15, 1],
    [{}, 16, 2],
    [{ 'warm-prefix-target': '1' }, 5, 2],
    [{ 'warm-prefix-target': '1' }, 17, 3],
    [{ 'warm-ip-target': '5' }, 11, 1],
    [{ 'warm-ip-target': '5' }, 12, 2],
    [{ 'warm-ip-target': '1', 'minimum-ip-target': '1' }, 17, 2],
    [{ 'warm-ip-target': '3', 'minimum-ip-target': '1' }, 14, 2],
    [{ 'warm-ip-target': '7', 'minimum-ip-target': '20' }, 5, 2],
    [{ 'warm-ip-target': '7', 'minimum-ip-target': '20' }, 26, 3],
  ];
  for (const [data, pods, prefixes] of rows)
    it(`are those of ${prefixes} prefixes with ${pods} pods and ${JSON.stringify(data)}`, () =>
      assert.equal(addressesWith(pods, addressModeOf(withPrefixes(data)), nitro), 1 + prefixes * 16));

  it('are its own, those of its pods and the warm ones without prefixes, as far as the interface has room', () => {
    const used = [0, 1, 5, 6, 7, 9].map((pods) => addressesWith(pods, addressModeOf({}), nitro));
    assert.deepEqual(used, [4, 5, 9, 10, 10, 10]);
  });
});

describe('the pods of a node', () => {
  it('are one per address of the interface except its own, and 16 per prefix on Nitro', () => {
    const pods = (data: Data) => [nitro, xen, unknown].map((type) => podsPerNode(addressModeOf(data), type));
    assert.deepEqual(
      [pods({}), pods(withPrefixes())],
      [
        [9, 9, undefined],
        [144, 9, undefined],
      ],
    );
    assert.deepEqual(
      [nitro, xen, unknown].map((type) => addressesWhenFull(addressModeOf(withPrefixes()), type)),
      [145, 10, undefined],
    );
  });
});

const check = textTable('addressModes');

describe('the description of the mode', () => {
  const modes = () =>
    [
      describeMode(addressModeOf({}), [nitro]),
      describeMode(addressModeOf(withPrefixes()), [nitro]),
      describeMode(addressModeOf(withPrefixes()), [nitro, xen]),
    ].map((mode) => `mode: ${mode}`);
  check('shows whether prefix delegation is enabled, and which types do not support it', modes, [
    ['mode', 'prefix delegation is disabled'],
    ['mode', 'Prefix delegation is enabled', '/28'],
    ['mode', 'Prefix delegation is enabled', '/28', 'm4.large'],
  ]);

  it('names each setting that the controller cannot parse', () => {
    assert.deepEqual(ignoredSettings(undefined), []);
    assert.deepEqual(ignoredSettings({ 'enable-windows-ipam': 'True', 'warm-ip-target': '+3', other: 'x' }), []);
    assert.deepEqual(
      ignoredSettings({
        'enable-windows-ipam': 'yes',
        'enable-windows-prefix-delegation': 'on',
        'warm-ip-target': '-1',
        'windows-warm-prefix-target': '1.5',
      }),
      [
        'enable-windows-ipam is "yes", expected "true" or "false"',
        'enable-windows-prefix-delegation is "on", expected "true" or "false"',
        'warm-ip-target is "-1", expected a non-negative integer',
        'windows-warm-prefix-target is "1.5", expected a non-negative integer',
      ],
    );
  });
});
