import assert from 'node:assert/strict';
import type { NodeClassSpec } from '../../api/api.gen.ts';
import { karpenterPool, NODE_CLASS } from '../../testing/karpenterScenes.ts';
import { nodeClassSpecFor } from './nodeClassManifest.ts';

const specOf = (change: Partial<NodeClassSpec> = {}) => {
  const nodeClass = NODE_CLASS.nodeClass ?? assert.fail('no node class');
  return nodeClassSpecFor(karpenterPool().spec, { ...nodeClass, ...change }, { ami: 'ami-0123456789abcdef0' });
};

describe('the EC2NodeClass of a pool', () => {
  it('selects the AMI by its ID, in the family of the Windows version, and has secure defaults', () => {
    assert.deepEqual(specOf(), {
      amiFamily: 'Windows2022',
      amiSelectorTerms: [{ id: 'ami-0123456789abcdef0' }],
      role: 'windows-nodes',
      subnetSelectorTerms: [{ tags: { tier: 'private' } }],
      securityGroupSelectorTerms: [{ id: 'sg-0123456789abcdef0' }],
      blockDeviceMappings: [
        {
          deviceName: '/dev/sda1',
          ebs: { deleteOnTermination: true, encrypted: true, volumeSize: '50Gi', volumeType: 'gp3' },
        },
      ],
      metadataOptions: {
        httpEndpoint: 'enabled',
        httpProtocolIPv6: 'disabled',
        httpPutResponseHopLimit: 1,
        httpTokens: 'required',
      },
    });
  });

  it('has the settings of the spec', () => {
    const { blockDeviceMappings, metadataOptions, tags, kubelet } = specOf({
      disk: { sizeGiB: 200, type: 'io2', iops: 4_000, encrypted: false },
      metadataOptions: { httpTokens: 'Optional', httpPutResponseHopLimit: 2 },
      instanceTags: { team: 'web' },
      kubelet: { systemReserved: { memory: '2Gi' }, maxPods: 40 },
    });
    const ebs = { deleteOnTermination: true, volumeSize: '200Gi', volumeType: 'io2', iops: 4_000 };
    assert.deepEqual(blockDeviceMappings, [{ deviceName: '/dev/sda1', ebs }]);
    assert.partialDeepStrictEqual(metadataOptions, { httpTokens: 'optional', httpPutResponseHopLimit: 2 });
    assert.deepEqual([tags, kubelet], [{ team: 'web' }, { systemReserved: { memory: '2Gi' }, maxPods: 40 }]);
  });
});
