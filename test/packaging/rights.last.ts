/**
 * The last suite of a whole run (test/cluster.mocharc.yaml names it after all others): every right that is shipped was needed by the
 * operators of the suites before it, and they asked for nothing beyond. One suite alone cannot tell.
 */
import assert from 'node:assert/strict';
import { OPERATOR_AGENT, ofOperator, readAudit } from '../../hack/world/audit.ts';
import { missing, shippedGrants, unneeded } from '../../hack/world/grants.ts';
import type { World } from '../../hack/world/world.ts';
import { theWorld } from '../sharedWorld.ts';

/** A list of Windows hosts under another name than windows-instances: who names it to a pool gives the right to read it (docs/existing-nodes.md). */
const OF_USERS = /^no role (list|watch) configmaps hosts in hosts$/;

describe('the rights that are shipped, after all suites', function () {
  this.timeout(120_000);
  let world: World;
  before(async () => {
    world = await theWorld();
  });

  const requests = async () => ofOperator(await readAudit(world.controlPlane.auditLog, OPERATOR_AGENT));

  it('in Kubernetes are all needed: what stands here can be taken out of config/rbac', async () =>
    assert.deepEqual(unneeded(await shippedGrants(), await requests()), []));

  it('in Kubernetes are enough: what stands here is missing in config/rbac', async () =>
    assert.deepEqual(
      missing(await shippedGrants(), await requests()).filter((right) => !OF_USERS.test(right)),
      [],
    ));

  it('in AWS are all needed: what stands here can be taken out of config/aws/iam-policy.json', () =>
    assert.deepEqual(world.cloud.policy.unneeded(), []));

  it('in AWS are enough: what stands here is missing in config/aws/iam-policy.json', () =>
    assert.deepEqual(world.cloud.policy.refusals(), []));
});
