/** The checks of a pool with a node group. */

import { autoMode, clusterStatus, ipFamily, region } from './clusterChecks.ts';
import { coreDns } from './coreDnsCheck.ts';
import { customAmi } from './customAmiCheck.ts';
import { freeAddresses } from './freeAddressesCheck.ts';
import { hibernation } from './hibernationCheck.ts';
import { hyperV } from './hyperVCheck.ts';
import { instanceTypes, offerings } from './instanceTypeChecks.ts';
import { kubeletPort } from './kubeletPortCheck.ts';
import { kubernetesVersion } from './kubernetesVersionCheck.ts';
import { launchTemplate, launchTemplateOwner, launchTemplateSettings } from './launchTemplateChecks.ts';
import { linuxNode } from './linuxNodeCheck.ts';
import type { NodeGroupCheck } from './nodeGroupCheck.ts';
import { nodeGroupQuota } from './nodeGroupQuotaCheck.ts';
import { nodeAccess, nodeRole } from './nodeRoleChecks.ts';
import { clusterRole, legacyController, podWebhook } from './resourceControllerChecks.ts';
import { roleMapping } from './roleMappingCheck.ts';
import { volumeEncryption, volumeSize } from './rootVolumeChecks.ts';
import { securityGroups } from './securityGroupsCheck.ts';
import { newSubnets, subnets, subnetZones } from './subnetChecks.ts';
import { userData, userDataRestart, userDataScript, userDataSecrets, userDataSyntax } from './userDataChecks.ts';
import { windowsIpam } from './windowsIpamCheck.ts';

/** By importance: the first required one that is not met sets the reason of PrerequisitesMet. Advice is last. */
export const checks: readonly NodeGroupCheck[] = [
  clusterStatus,
  ipFamily,
  region,
  autoMode,
  kubernetesVersion,
  linuxNode,
  windowsIpam,
  legacyController,
  clusterRole,
  podWebhook,
  nodeAccess,
  nodeRole,
  launchTemplate,
  launchTemplateSettings,
  launchTemplateOwner,
  securityGroups,
  userData,
  userDataScript,
  userDataSyntax,
  userDataRestart,
  customAmi,
  nodeGroupQuota,
  instanceTypes,
  subnets,
  offerings,
  freeAddresses,
  newSubnets,
  userDataSecrets,
  kubeletPort,
  hyperV,
  hibernation,
  subnetZones,
  coreDns,
  roleMapping,
  volumeEncryption,
  volumeSize,
];
