/** The approximate cost of a run: an estimate that is printed before anything is created. */

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
const TYPICAL_HOURS = { life: 3, machine: 2 } as const;

/** The estimate of a run of that kind, as text. `longestHours`: its duration if every step takes its full time-out. */
export function estimate(kind: keyof typeof TYPICAL_HOURS, instanceType: string, longestHours: number): string {
  const typical = TYPICAL_HOURS[kind];
  const price = INSTANCE_PRICES[instanceType];
  const instances = `${INSTANCES} instances of ${instanceType}`;
  const most = Math.ceil(longestHours);
  if (price === undefined)
    return (
      `Estimated cost: ${instances} for ${typical} hours, typically less; if every step takes its whole timeout, for ${most} hours. ` +
      `The price of ${instanceType} is not known here: see https://aws.amazon.com/ec2/pricing/on-demand/`
    );
  const cost = (hours: number) => `USD ${(INSTANCES * hours * price).toFixed(2)}`;
  return (
    `Estimated cost: typically less than ${cost(typical)} (${instances} for ${typical} hours at a list price of about USD ${price} an hour ` +
    `with Windows), plus disks and traffic. If every step takes its whole timeout: ${cost(most)} (${most} hours).`
  );
}
