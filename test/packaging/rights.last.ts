/**
 * The last suite of a whole run (hack/suites/main.ts starts it after all others): every shipped permission was needed by the operators of the
 * suites before it, in any process, and they needed no others. One suite alone cannot show that.
 */
import assert from 'node:assert/strict';
import { readUsage, type Usage } from '../../hack/suites/usage.ts';
import { missing, shippedGrants, unneeded } from '../fakes/testenv/grants.ts';

/** A list of Windows hosts under another name than windows-instances: a cluster administrator who names it in a pool grants the permission to read it (docs/how-to/existing-nodes.md). */
const OF_USERS = /^no role (list|watch) configmaps hosts in hosts$/;

/** `make e2e` requests resources that do not exist as the operator, to learn AWS' answers. */
const OF_E2E = /^eks:DescribeAddon .*aws-efs-csi-driver-e2e/;

describe('the shipped permissions, after all suites', function () {
  this.timeout(120_000);
  let usage: Usage;
  before(async () => {
    const { USAGE_FOLDER } = process.env;
    assert.ok(USAGE_FOLDER, 'Run it with all suites before it: make cluster-test-all');
    usage = await readUsage(USAGE_FOLDER);
  });

  it('in Kubernetes are all needed: those listed here can be removed from config/rbac, config/windows-ipam, config/karpenter, config/machines or config/machine-templates', async () =>
    assert.deepEqual(unneeded(await shippedGrants(), usage.requests), []));

  it('in Kubernetes are sufficient: those listed here are missing in config/rbac, config/windows-ipam, config/karpenter, config/machines or config/machine-templates', async () =>
    assert.deepEqual(
      missing(await shippedGrants(), usage.requests).filter((right) => !OF_USERS.test(right)),
      [],
    ));

  it('in AWS are all needed: those listed here can be removed from the policies in config/aws', () =>
    assert.deepEqual(usage.aws.unneeded, []));

  it('in AWS are sufficient: those listed here are missing in the policies in config/aws', () =>
    assert.deepEqual(
      usage.aws.refusals.filter((refusal) => !OF_E2E.test(refusal)),
      [],
    ));
});
