/** What a run costs, about: an estimate that is shown before anything is made. */

/**
 * On-demand list price of an hour in us-east-1 with Windows, in USD, of 2025: https://aws.amazon.com/ec2/pricing/on-demand/. Other regions cost
 * up to twice as much.
 */
export const INSTANCE_PRICES: Readonly<Record<string, number>> = {
  'm5.large': 0.188,
  'm5.xlarge': 0.376,
  'm6i.large': 0.188,
  'm6i.xlarge': 0.376,
  't3.large': 0.111,
  't3.xlarge': 0.24,
};

/** An update of one node starts up to two more for each zone: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html */
const INSTANCES = 4;
const HOURS = 3;

/** The estimate, in words. */
export function estimate(instanceType: string): string {
  const price = INSTANCE_PRICES[instanceType];
  const most = `at most ${INSTANCES} instances of ${instanceType} for ${HOURS} hours`;
  if (price === undefined)
    return `Estimated cost: ${most}. The price of ${instanceType} is not known here: see https://aws.amazon.com/ec2/pricing/on-demand/`;
  const total = (INSTANCES * HOURS * price).toFixed(2);
  return `Estimated cost: less than USD ${total} (${most} at a list price of about USD ${price} an hour with Windows), plus disks and traffic.`;
}
