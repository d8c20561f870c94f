/** The kinds of steps that the providers add. */

import { launchTemplateSteps } from './eks/steps/launchTemplateSteps.ts';
import { nodeGroupSteps } from './eks/steps/nodeGroupSteps.ts';
import { recordSteps } from './eks/steps/recordSteps.ts';
import { windowsIpamSteps } from './eks/steps/windowsIpamSteps.ts';

export const providerSteps = { ...nodeGroupSteps, ...launchTemplateSteps, ...windowsIpamSteps, ...recordSteps };
