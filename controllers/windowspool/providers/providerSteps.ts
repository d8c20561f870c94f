/** The kinds of steps that the providers add. */

import { karpenterSteps } from './karpenter/steps/karpenterSteps.ts';
import { machineSteps } from './machines/steps/machineSteps.ts';
import { launchTemplateSteps } from './nodeGroup/steps/launchTemplateSteps.ts';
import { nodeGroupSteps } from './nodeGroup/steps/nodeGroupSteps.ts';
import { recordSteps } from './nodeGroup/steps/recordSteps.ts';
import { windowsIpamSteps } from './nodeGroup/steps/windowsIpamSteps.ts';

export const providerSteps = {
  ...nodeGroupSteps,
  ...launchTemplateSteps,
  ...windowsIpamSteps,
  ...recordSteps,
  ...karpenterSteps,
  ...machineSteps,
};
