/** While prerequisites are met or not, and what the operator does about them: the access entry, and Windows IPAM. */
import type { PrerequisiteFacts } from '../../model/prerequisites.ts';
import { known } from '../answers.ts';
import { knownStatus, MINUTE, NOW, sampleError, samplePool, sampleState, settings } from '../fixtures.ts';
import { sampleAddon, sampleConfigMapOwner, sampleFacts, unasked } from '../prerequisites.ts';
import { otherAuthority, seen } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { CREATE, REMEMBER } from './steps.ts';

const managing = samplePool({ nodeGroup: { manageAccessEntry: true } });
const made = { ...managing, status: knownStatus() };
const ENTRY = 'create an access entry of type EC2_WINDOWS for arn:aws:iam::111122223333:role/windows-nodes';

/** A pool that makes access entries, without a group. */
function bare(prerequisites: PrerequisiteFacts) {
  return sampleState({ pool: managing, group: { kind: 'absent' }, prerequisites, nodes: [] });
}

const noEntry = sampleFacts({ accessEntry: known(undefined) });

const IPAM_IN_ADDON = 'set enableWindowsIpam: "true" in the vpc-cni add-on of cluster prod';
const IPAM_IN_CONFIG = 'set enable-windows-ipam: "true" in ConfigMap kube-system/amazon-vpc-cni';

/** Facts in which Windows IPAM is off. */
const ipamOff = (change: Partial<PrerequisiteFacts> = {}) =>
  sampleFacts({
    cniConfig: known({ 'enable-windows-ipam': 'false' }),
    cniConfigOwner: known(sampleConfigMapOwner()),
    ...change,
  });
const addonOff = ipamOff({ cniAddon: known(sampleAddon()) });
/** A pool that lives, under an operator that enables Windows IPAM. */
const enabling = (prerequisites: PrerequisiteFacts, change: Parameters<typeof sampleState>[0] = {}) =>
  sampleState({
    pool: samplePool({}, { status: knownStatus() }),
    settings: { ...settings, enableWindowsIpam: true },
    prerequisites,
    ...change,
  });
const deniedUpdate = { at: NOW, step: 'updateAddon', error: sampleError('denied') };

export const prerequisiteCases: readonly PlanCase[] = [
  {
    name: 'makes no group while a prerequisite is not met',
    observed: bare(sampleFacts({ legacyController: known(true) })),
    want: [],
  },
  {
    name: 'makes no access entry either while another prerequisite is not met',
    observed: bare({ ...noEntry, legacyController: known(true) }),
    want: [],
  },
  {
    name: 'makes a group although nothing could be checked',
    observed: bare(sampleFacts({ legacyController: unasked(), subnets: unasked(), accessEntry: unasked() })),
    want: [REMEMBER, CREATE],
  },
  { name: 'makes the access entry before the group', observed: bare(noEntry), want: [REMEMBER, ENTRY, CREATE] },
  { name: 'makes no access entry where there is one', observed: bare(sampleFacts()), want: [REMEMBER, CREATE] },
  {
    name: 'makes the access entry again that somebody deleted',
    observed: sampleState({ pool: made, prerequisites: noEntry }),
    want: [ENTRY],
  },
  {
    name: 'makes no access entry for the group of another',
    observed: sampleState({ pool: made, group: seen({ tags: {} }), prerequisites: noEntry }),
    want: [],
  },
  { name: 'enables Windows IPAM in the ConfigMap', observed: enabling(ipamOff()), want: [IPAM_IN_CONFIG] },
  { name: 'enables Windows IPAM in the add-on that owns it', observed: enabling(addonOff), want: [IPAM_IN_ADDON] },
  {
    name: 'enables Windows IPAM before it makes the group',
    observed: enabling(addonOff, { group: { kind: 'absent' }, nodes: [] }),
    want: [IPAM_IN_ADDON],
  },
  {
    name: 'says who may disable Windows IPAM again',
    observed: enabling(
      ipamOff({ cniConfigOwner: known(sampleConfigMapOwner({ managedBy: 'Helm release kube-system/aws-vpc-cni' })) }),
    ),
    want: [
      `${IPAM_IN_CONFIG}. Helm release kube-system/aws-vpc-cni manages the ConfigMap and may revert it: enable it there, too (enableWindowsIpam: "true" in the chart aws-vpc-cni)`,
    ],
  },
  { name: 'enables no Windows IPAM that is on', observed: enabling(sampleFacts()), want: [] },
  {
    name: 'enables no Windows IPAM without the flag',
    observed: sampleState({ pool: samplePool({}, { status: knownStatus() }), prerequisites: addonOff }),
    want: [],
  },
  {
    name: 'enables no Windows IPAM while nobody knows who owns it',
    observed: enabling(ipamOff({ cniAddon: unasked() })),
    want: [],
  },
  {
    name: 'enables no Windows IPAM while the add-on is updated',
    observed: enabling(ipamOff({ cniAddon: known(sampleAddon({ status: 'UPDATING' })) })),
    want: [],
  },
  {
    name: 'enables no Windows IPAM again that another user has just disabled',
    observed: enabling(addonOff, { ipamAttempts: { updateAddon: NOW - MINUTE } }),
    want: [],
  },
  {
    name: 'enables no Windows IPAM again that was refused before',
    observed: enabling(addonOff, { errors: [deniedUpdate] }),
    want: [],
  },
  {
    name: 'enables no Windows IPAM for the group of another',
    observed: enabling(addonOff, { group: seen({ tags: {} }) }),
    want: [],
  },
  {
    name: 'enables no Windows IPAM in another cluster',
    observed: enabling(addonOff, { cluster: otherAuthority }),
    want: [],
  },
  {
    name: 'makes no access entry in another cluster',
    observed: sampleState({ pool: made, cluster: otherAuthority, prerequisites: noEntry }),
    want: [],
  },
];
