/** What the kubectl plugin, the tools and the suites ask about node groups. */

export { describeRelease } from './eks/machine/image.ts';
export { isOwnedBy, labelsFor, nodeGroupNameOf, nodeGroupNamesOf, otherNameOf } from './eks/nodeGroup.ts';
export { IPAM_KEY, isIpamOn } from './eks/prerequisites/addressMode.ts';
export { sameRole } from './eks/prerequisites/roleChecks.ts';
export { isNewerRelease } from './eks/upgrades/releaseVersion.ts';
export { UNKNOWN_UPDATE } from './eks/upgrades/updateReservation.ts';
