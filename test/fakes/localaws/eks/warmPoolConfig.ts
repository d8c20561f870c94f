/** The settings of warm pools in node groups: the API references of WarmPoolConfig, and "Use warm pools with managed node groups" in the user guide. */
import type { CreateNodegroupRequest, WarmPoolConfig } from '@aws-sdk/client-eks';
import { type AwsFault, invalidParameter } from '../awsFault.ts';
import type { LocalAwsState } from '../state.ts';

/** The settings after a request, with the defaults of EKS. Those that it does not name are kept. */
export const configuredWarmPool = (before: WarmPoolConfig | undefined, given: WarmPoolConfig): WarmPoolConfig => ({
  enabled: true,
  minSize: 0,
  poolState: 'STOPPED',
  reuseOnScaleIn: false,
  ...before,
  ...given,
});

type Rule = Pick<CreateNodegroupRequest, 'warmPoolConfig' | 'capacityType' | 'amiType'>;
/** Of a request or of an existing group. */
type Configured = { readonly [Name in keyof Rule]?: Rule[Name] | undefined };

/** The checks on the settings of a warm pool. The messages are not those of EKS. */
export function warmPoolFault(
  { switches }: LocalAwsState,
  { warmPoolConfig, capacityType, amiType }: Configured,
): AwsFault | undefined {
  if (warmPoolConfig === undefined || warmPoolConfig.enabled === false) return undefined;
  const { minSize = 0, maxGroupPreparedCapacity: most = -1 } = warmPoolConfig;
  // The minimum of -1, for none: the CloudFormation resource of a node group.
  for (const [name, size, least] of [
    ['minSize', minSize, 0],
    ['maxGroupPreparedCapacity', most, -1],
  ] as const) {
    if (!Number.isInteger(size) || size < least)
      return invalidParameter(`warmPoolConfig.${name} is ${size}; it must be a whole number from ${least}`);
  }
  if (most >= 0 && minSize > most)
    return invalidParameter(`warmPoolConfig.minSize ${minSize} can't be greater than maxGroupPreparedCapacity ${most}`);
  if (capacityType === 'SPOT' && switches.spotWarmPools === 'reject')
    return invalidParameter('Warm pools are not supported for Spot Instances');
  // User guide of EKS.
  if (amiType === 'CUSTOM') return invalidParameter('Warm pools are not supported for custom AMIs');
  return undefined;
}
