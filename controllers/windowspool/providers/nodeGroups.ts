/** What the kubectl plugin, the tools and the suites ask about node groups. */

export { sameRole } from '../nodes/nodeRole.ts';
export { checkSystem } from './nodeGroup/checks/systemChecks.ts';
export { withDefaultTags } from './nodeGroup/desired/defaultTags.ts';
export {
  isOwnedBy,
  labelsFor,
  nodeGroupNameOf,
  nodeGroupNamesOf,
  secondNameOf,
} from './nodeGroup/desired/desiredNodeGroup.ts';
export { describeRelease } from './nodeGroup/launchTemplate/image.ts';
export { isDrainPhase, PHASES, type Phase } from './nodeGroup/secondGroup/phases.ts';
export { isNewerRelease } from './nodeGroup/versions/releaseVersion.ts';
export { UNKNOWN_UPDATE } from './nodeGroup/versions/updateReservation.ts';
