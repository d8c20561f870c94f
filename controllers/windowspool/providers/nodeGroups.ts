/** What the kubectl plugin, the tools and the suites ask about node groups. */

export {
  isOwnedBy,
  labelsFor,
  nodeGroupNameOf,
  nodeGroupNamesOf,
  secondNameOf,
} from './nodeGroup/desired/desiredNodeGroup.ts';
export { describeRelease } from './nodeGroup/launchTemplate/image.ts';
export { IPAM_KEY, isIpamOn } from './nodeGroup/prerequisites/addressMode.ts';
export { sameRole } from './nodeGroup/prerequisites/roleChecks.ts';
export { isDrainPhase, PHASES, type Phase } from './nodeGroup/secondGroup/phases.ts';
export { isNewerRelease } from './nodeGroup/versions/releaseVersion.ts';
export { UNKNOWN_UPDATE } from './nodeGroup/versions/updateReservation.ts';
