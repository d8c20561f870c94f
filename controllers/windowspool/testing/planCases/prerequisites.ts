/** Steps that depend on prerequisites, or meet them: the access entry, and Windows IPAM. */
import type { CheckFacts } from '../../providers/nodeGroup/model/checkFacts.ts';
import { known } from '../answers.ts';
import { knownStatus, MINUTE, NOW, sampleError, samplePool, sampleState, settings } from '../fixtures.ts';
import { sampleAddon, sampleConfigMapOwner, sampleFacts, unasked } from '../prerequisites.ts';
import { otherAuthority, seen } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { CREATE, SEND_ALL } from './steps.ts';

const managing = samplePool({ nodeGroup: { accessEntryManagement: 'Operator' } });
const made = { ...managing, status: knownStatus() };
const ENTRY = 'createAccessEntry arn:aws:iam::111122223333:role/windows-nodes';

/** A pool with accessEntryManagement Operator, without a group. */
function bare(prerequisites: CheckFacts) {
  return sampleState({ pool: managing, group: { kind: 'absent' }, prerequisites, nodes: [] });
}

const noEntry = sampleFacts({ accessEntry: known(undefined) });

const IPAM_IN_ADDON = 'updateAddon prod';
const IPAM_IN_CONFIG = 'applyCniConfig';

/** Facts in which Windows IPAM is disabled. */
const ipamOff = (change: Partial<CheckFacts> = {}) =>
  sampleFacts({
    cniConfig: known({ 'enable-windows-ipam': 'false' }),
    cniConfigOwner: known(sampleConfigMapOwner()),
    ...change,
  });
const addonOff = ipamOff({ cniAddon: known(sampleAddon()) });
/** A pool with a group, with an operator that enables Windows IPAM. */
const enabling = (prerequisites: CheckFacts, change: Parameters<typeof sampleState>[0] = {}) =>
  sampleState({
    pool: samplePool({}, { status: knownStatus() }),
    settings: { ...settings, enableWindowsIpam: true },
    prerequisites,
    ...change,
  });
const deniedUpdate = { at: NOW, step: 'updateAddon' as const, error: sampleError('denied') };

export const prerequisiteCases: readonly PlanCase[] = [
  {
    name: 'no group is created while a prerequisite is not met',
    observed: bare(sampleFacts({ legacyController: known(true) })),
    want: [],
    waits: { because: 'PrerequisitesMet LegacyResourceController', until: '20s' },
  },
  {
    name: 'no access entry is created while another prerequisite is not met',
    observed: bare({ ...noEntry, legacyController: known(true) }),
    want: [],
    waits: { because: 'PrerequisitesMet LegacyResourceController', until: '20s' },
  },
  {
    name: 'a group is created although nothing could be checked',
    observed: bare(sampleFacts({ legacyController: unasked(), subnets: unasked(), accessEntry: unasked() })),
    want: [SEND_ALL, CREATE],
  },
  { name: 'the access entry is created before the group', observed: bare(noEntry), want: [SEND_ALL, ENTRY, CREATE] },
  { name: 'no access entry is created when one exists', observed: bare(sampleFacts()), want: [SEND_ALL, CREATE] },
  {
    name: 'a deleted access entry is created again',
    observed: sampleState({ pool: made, prerequisites: noEntry }),
    want: [ENTRY],
  },
  {
    name: 'no access entry is created for a group that the pool does not manage',
    observed: sampleState({ pool: made, group: seen({ tags: {} }), prerequisites: noEntry }),
    want: [],
    waits: { because: 'NodeGroupReady NotOwned', until: '10m' },
  },
  { name: 'Windows IPAM is enabled in the ConfigMap', observed: enabling(ipamOff()), want: [IPAM_IN_CONFIG] },
  { name: 'Windows IPAM is enabled in the add-on that owns it', observed: enabling(addonOff), want: [IPAM_IN_ADDON] },
  {
    name: 'Windows IPAM is enabled before the group is created',
    observed: enabling(addonOff, { group: { kind: 'absent' }, nodes: [] }),
    want: [IPAM_IN_ADDON],
  },
  {
    name: 'the step names the tool that may disable Windows IPAM again',
    observed: enabling(
      ipamOff({ cniConfigOwner: known(sampleConfigMapOwner({ managedBy: 'Helm release kube-system/aws-vpc-cni' })) }),
    ),
    want: ['applyCniConfig with a warning'],
  },
  {
    name: 'Windows IPAM is not changed when it is enabled',
    observed: enabling(sampleFacts()),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'Windows IPAM is not enabled without the flag',
    observed: sampleState({ pool: samplePool({}, { status: knownStatus() }), prerequisites: addonOff }),
    want: [],
    waits: { because: 'PrerequisitesMet WindowsIPAMDisabled', until: '20s' },
  },
  {
    name: 'Windows IPAM is not enabled while its owner is unknown',
    observed: enabling(ipamOff({ cniAddon: unasked() })),
    want: [],
    waits: { because: 'PrerequisitesMet WindowsIPAMDisabled', until: '20s' },
  },
  {
    name: 'Windows IPAM is not enabled while the add-on is being updated',
    observed: enabling(ipamOff({ cniAddon: known(sampleAddon({ status: 'UPDATING' })) })),
    want: [],
    waits: { because: 'PrerequisitesMet WindowsIPAMDisabled', until: '20s' },
  },
  {
    name: 'Windows IPAM is not enabled again when another user has just disabled it',
    observed: enabling(addonOff, { ipamAttempts: { updateAddon: NOW - MINUTE } }),
    want: [],
    waits: { because: 'PrerequisitesMet WindowsIPAMDisabled', until: '20s' },
  },
  {
    name: 'Windows IPAM is not enabled again after a rejected attempt',
    observed: enabling(addonOff, { errors: [deniedUpdate] }),
    want: [],
    waits: { because: 'PrerequisitesMet AccessDenied', until: '20s' },
  },
  {
    name: 'Windows IPAM is not enabled for a group that the pool does not manage',
    observed: enabling(addonOff, { group: seen({ tags: {} }) }),
    want: [],
    waits: { because: 'NodeGroupReady NotOwned', until: '10m' },
  },
  {
    name: 'Windows IPAM is not enabled in another cluster',
    observed: enabling(addonOff, { cluster: otherAuthority }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
  {
    name: 'no access entry is created in another cluster',
    observed: sampleState({ pool: made, cluster: otherAuthority, prerequisites: noEntry }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
];
