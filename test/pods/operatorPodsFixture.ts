/** The operator's pods for a suite. */
import { OperatorPods } from '../fakes/testenv/operatorPods.ts';
import { theWorld } from '../sharedWorld.ts';

/** Prepares the operator's image for the suite that calls this, which deploys it; at its end, the operator is deleted. */
export function withOperatorPods(): OperatorPods {
  const operator = new OperatorPods();
  before(async function () {
    this.timeout(600_000);
    await operator.start(await theWorld());
  });
  after(() => operator.stop());
  return operator;
}
