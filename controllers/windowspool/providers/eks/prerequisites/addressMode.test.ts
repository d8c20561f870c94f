import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { InstanceType } from '../../../ports/prerequisites.ts';
import {
  addressesAtStart,
  addressesWhenFull,
  addressModeOf,
  describeMode,
  ignoredSettings,
  isIpamOn,
  podsPerNode,
} from './addressMode.ts';

const nitro: InstanceType = { name: 'm5.large', architectures: ['x86_64'], addressesPerInterface: 10, isNitro: true };
const xen: InstanceType = { ...nitro, name: 'm4.large', isNitro: false };
const unknown: InstanceType = { ...nitro, addressesPerInterface: undefined };

type Data = Readonly<Record<string, string>>;
const withPrefixes = (more: Data = {}): Data => ({ 'enable-windows-prefix-delegation': 'true', ...more });

describe('Windows IPAM', () => {
  it('is on for what the VPC resource controller parses as true, and for nothing else', () => {
    const values = ['true', 'True', 'TRUE', 't', 'T', '1', 'tRUE', 'yes', 'on', ' true', '', 'false', '0', 'F'];
    const on = values.filter((value) => isIpamOn({ 'enable-windows-ipam': value }));
    assert.deepEqual([on, isIpamOn({}), isIpamOn(undefined)], [['true', 'True', 'TRUE', 't', 'T', '1'], false, false]);
  });
});

describe('the addresses that a node takes before it has pods, its own included', () => {
  /** The rows without pods of the tables in docs/windows of amazon-vpc-resource-controller-k8s, and what the older names do. */
  const rows: readonly [what: string, data: Data | undefined, taken: number][] = [
    ['without a ConfigMap', undefined, 4],
    ['without targets', {}, 4],
    ['warm 1, minimum 0', { 'windows-warm-ip-target': '1', 'windows-minimum-ip-target': '0' }, 2],
    ['warm 5, minimum 0', { 'windows-warm-ip-target': '5', 'windows-minimum-ip-target': '0' }, 6],
    ['warm 5, minimum 10, more than the interface has', { 'warm-ip-target': '5', 'minimum-ip-target': '10' }, 10],
    ['warm 1, minimum 3: what the add-on writes', { 'warm-ip-target': '1', 'minimum-ip-target': '3' }, 4],
    ['warm 0, which becomes 1', { 'windows-warm-ip-target': '0' }, 2],
    ['minimum 0 alone, which is no target', { 'windows-minimum-ip-target': '0' }, 4],
    ['the older name before the newer one', { 'windows-warm-ip-target': '5', 'warm-ip-target': '2' }, 3],
    ['a target that is no number, which is no target', { 'windows-warm-ip-target': 'many' }, 4],
    ['no number beside minimum 0', { 'warm-ip-target': 'abc', 'minimum-ip-target': '0' }, 4],
    ['no number beside minimum 2', { 'warm-ip-target': 'abc', 'minimum-ip-target': '2' }, 3],
    ['no number under the older name', { 'warm-ip-target': 'abc', 'windows-warm-ip-target': '5' }, 4],
    ['a warm prefix, which counts in the other mode only', { 'warm-prefix-target': '2' }, 4],
    ['prefixes', withPrefixes(), 17],
    ['prefixes, warm 5', withPrefixes({ 'warm-ip-target': '5' }), 17],
    ['prefixes, warm 7, minimum 20', withPrefixes({ 'warm-ip-target': '7', 'minimum-ip-target': '20' }), 33],
    ['1 warm prefix', withPrefixes({ 'warm-prefix-target': '1' }), 17],
    ['3 warm prefixes', withPrefixes({ 'windows-warm-prefix-target': '3' }), 49],
    ['warm addresses before warm prefixes', withPrefixes({ 'warm-prefix-target': '3', 'warm-ip-target': '1' }), 17],
    ['more warm prefixes than the interface has room for', withPrefixes({ 'warm-prefix-target': '20' }), 145],
    ['prefixes that are asked for in other words', { 'enable-windows-prefix-delegation': 'yes' }, 4],
  ];
  for (const [what, data, taken] of rows)
    it(what, () => assert.equal(addressesAtStart(addressModeOf(data), nitro), taken));

  it('are those of secondary mode on Xen, whatever the targets of prefixes are', () => {
    assert.equal(addressesAtStart(addressModeOf(withPrefixes({ 'warm-prefix-target': '3' })), xen), 4);
    assert.equal(addressesAtStart(addressModeOf({ 'warm-ip-target': '5' }), xen), 6);
  });

  it('are never more than the node takes when it is full', () => {
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

describe('the pods of a node', () => {
  it('are one for each address of the interface but its own, and 16 with prefixes on Nitro', () => {
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

describe('the mode in words', () => {
  it('says whether prefix delegation is on, and which types take no part in it', () => {
    assert.deepEqual(
      [
        describeMode(addressModeOf({}), [nitro]),
        describeMode(addressModeOf(withPrefixes()), [nitro]),
        describeMode(addressModeOf(withPrefixes()), [nitro, xen]),
      ],
      [
        'Each pod takes one secondary IP address (prefix delegation is off)',
        'Prefix delegation is on: a node takes contiguous /28 blocks of 16 addresses; a fragmented subnet may have none left',
        'Prefix delegation is on: a node takes contiguous /28 blocks of 16 addresses, except on m4.large, which EC2 does not run on Nitro; a fragmented subnet may have none left',
      ],
    );
  });

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
        'enable-windows-ipam is "yes" and must be "true" or "false"',
        'enable-windows-prefix-delegation is "on" and must be "true" or "false"',
        'warm-ip-target is "-1" and must be a whole number from 0',
        'windows-warm-prefix-target is "1.5" and must be a whole number from 0',
      ],
    );
  });
});
