import assert from 'node:assert/strict';
import { FakeWorld } from './testing/fakeWorld.ts';
import { samplePool } from './testing/fixtures.ts';
import { conditionOf, fresh, wake } from './testing/life.ts';

const role = samplePool().spec.nodeGroup?.nodeRole ?? assert.fail('the sample has no node role');
const groups = ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'];

describe('the access that EKS gives a node role while it creates the node group', () => {
  for (const authenticationMode of ['API', 'API_AND_CONFIG_MAP', 'CONFIG_MAP']) {
    it(`is read again when the group becomes ACTIVE, with authentication mode ${authenticationMode}`, async () => {
      // EKS gives the access some time after it has accepted the request.
      const world = new FakeWorld({ speed: 1 / 3, switches: { nodegroupAccessEntry: 'none' } });
      world.cloud.faults.accessEntry({ exists: false });
      world.cloud.faults.cluster({ authenticationMode });
      world.apply(fresh());
      const deps = world.start();
      const states = new Set<string>();
      let activePolls = 0;
      for (let poll = 0; poll < 20 && activePolls < 3; poll++) {
        await wake(world, deps);
        states.add(conditionOf(world, 'PrerequisitesMet')?.split(':')[0] ?? '');
        const status = world.groups.get('web')?.status;
        if (status === 'CREATING' && poll > 0) {
          if (authenticationMode === 'CONFIG_MAP') world.kubeSystem.roleMappings = [{ roleArn: role, groups }];
          else world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
        }
        if (status === 'ACTIVE') activePolls += 1;
        world.now = deps.readCache.dueAt('web');
      }
      assert.equal(activePolls, 3, 'the group is ACTIVE for three looks');
      assert.deepEqual([...states], ['True Met']);
      assert.deepEqual(
        world.events.filter(({ type }) => type === 'Warning'),
        [],
      );
    });
  }
});
