/** The EC2NodeClass of a pool, as it should be. Pure. */

import type { DiskSpec, NodeClassSpec, WindowsPool } from '../../api/api.gen.ts';
import type { NodeClassManifestSpec } from '../../ports/karpenter.ts';
import type { ResolvedNodeClass } from './nodeClassFacts.ts';

/**
 * The spec of the EC2NodeClass. The AMI family is that of the Windows version also for custom AMIs: with `Custom`, Karpenter does not take the nodes for Windows. The
 * volume and the instance metadata have the secure defaults of the launch templates of node groups.
 */
export function nodeClassSpecFor(
  { windowsVersion }: Pick<WindowsPool['spec'], 'windowsVersion'>,
  { role, subnets, securityGroups, disk, metadataOptions, instanceTags, kubelet }: NodeClassSpec,
  { ami, userData }: ResolvedNodeClass,
): NodeClassManifestSpec {
  const { httpTokens = 'Required', httpPutResponseHopLimit = 1 } = metadataOptions ?? {};
  return {
    amiFamily: windowsVersion,
    amiSelectorTerms: [{ id: ami }],
    role,
    subnetSelectorTerms: subnets,
    securityGroupSelectorTerms: securityGroups,
    blockDeviceMappings: [{ deviceName: ROOT_DEVICE, ebs: volumeFor(disk) }],
    metadataOptions: {
      httpEndpoint: 'enabled',
      httpProtocolIPv6: 'disabled',
      httpPutResponseHopLimit,
      httpTokens: httpTokens.toLowerCase(),
    },
    ...(instanceTags && { tags: instanceTags }),
    ...(kubelet && { kubelet }),
    ...(userData !== undefined && { userData }),
  };
}

/** Of Windows AMIs. */
const ROOT_DEVICE = '/dev/sda1';

const SMALLEST_DISK: DiskSpec = { sizeGiB: 50, type: 'gp3', encrypted: true };

function volumeFor({ sizeGiB, type, encrypted, iops, throughput, kmsKeyID }: DiskSpec = SMALLEST_DISK) {
  return {
    deleteOnTermination: true,
    volumeSize: `${sizeGiB}Gi`,
    volumeType: type,
    ...(encrypted && { encrypted }),
    ...(iops !== undefined && { iops }),
    ...(throughput !== undefined && { throughput }),
    ...(kmsKeyID !== undefined && { kmsKeyID }),
  };
}
