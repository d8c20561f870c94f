import assert from 'node:assert/strict';
import { windowsInstancesIn } from '../../membership/windowsInstances.ts';
import type { ListedInstances } from '../../model/nodeMembershipView.ts';
import type { Host } from '../../ports/nodes.ts';
import { existingScene } from '../../testing/existingScenes.ts';
import { assertBrief } from '../../testing/goldenTexts.ts';
import { nodesFound } from './nodesFound.ts';

const LIST = { namespace: 'ops', name: 'windows-instances' };

/** NodesFound of a pool with a list of these entries, of which no node has `unknown`. */
function conditionOf(
  hosts: Readonly<Record<string, Host>>,
  { unknown = [], unanswered = [] }: Partial<Pick<ListedInstances, 'unknown' | 'unanswered'>> = {},
): string {
  const data = Object.fromEntries(Object.keys(hosts).map((entry) => [entry, '']));
  const list = { kind: 'seen', data } as const;
  const instances = windowsInstancesIn(data, new Map(Object.entries(hosts)));
  const scene = existingScene({ spec: { existingNodes: { instancesConfigMap: LIST } } });
  const membership = scene.membership ?? assert.fail('no membership');
  const listed = { ...instances, list, unknown, unanswered };
  const { status, reason, message } = nodesFound({ ...scene, membership: { ...membership, listed } });
  return `${status} ${reason}: ${message}`;
}

const found = (...addresses: readonly string[]): Host => ({ addresses, error: '' });

describe('NodesFound of a list of hosts', () => {
  it('names entries of the same host', () => {
    const condition = conditionOf({ '10.0.0.1': found(), 'win-1': found('10.0.0.1') });
    assertBrief(condition, 'True NodesFound', '3 nodes', '10.0.0.1 and win-1', 'ConfigMap ops/windows-instances');
  });

  it('says what the DNS names of unknown hosts resolve to', () => {
    const hosts = { '10.0.0.9': found('win-9'), moved: found('10.0.0.7'), gone: found() };
    const condition = conditionOf(hosts, { unknown: Object.keys(hosts) });
    assertBrief(
      condition,
      'False UnknownAddresses',
      '10.0.0.9, ',
      'moved (which resolves to 10.0.0.7)',
      'gone (which does not resolve)',
    );
  });

  it('is Unknown while a name that no node has cannot be looked up', () => {
    const hosts = { 'win-1': { addresses: [], error: 'ETIMEOUT' } };
    const condition = conditionOf(hosts, { unknown: ['win-1'], unanswered: ['win-1'] });
    assertBrief(condition, 'Unknown InstancesUnknown', 'win-1', 'cannot be looked up: ETIMEOUT', 'keeps its nodes');
    assert.match(conditionOf({}, { unanswered: ['win-2'] }), /win-2 in ConfigMap .* has not been looked up yet/);
  });
});
