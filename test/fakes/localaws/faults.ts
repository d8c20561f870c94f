import {
  type AddonIssue,
  AddonIssueCode,
  AuthenticationMode,
  ClusterStatus,
  type CreateNodegroupRequest,
  IpFamily,
  type Issue,
} from '@aws-sdk/client-eks';
import { releaseOf } from './ec2/images.ts';
import { kernelWith, restart } from './ec2/instances.ts';
import { changeTemplate, type TemplateChange } from './ec2/launchTemplates.ts';
import { changeImage, type ImageChange } from './ec2/ownImages.ts';
import { changeSecurityGroup, type SecurityGroupChange } from './ec2/securityGroups.ts';
import { terminateInstance } from './ec2/terminateInstance.ts';
import { fillWarmPool } from './ec2/warmPool.ts';
import { setEntry } from './eks/accessEntries.ts';
import { type AddonChange, setAddon } from './eks/addons.ts';
import { type ReleaseChange, rollbackCluster, setRelease, upgradeCluster } from './eks/clusterUpgrade.ts';
import { accessChanged, checkLaunches, retryLaunches, setStatus } from './eks/groupStatus.ts';
import { createNodegroup, deleteNodegroup } from './eks/nodegroups.ts';
import { configure } from './eks/updates.ts';
import type { Policy } from './iam/iam.ts';
import { controllerPolicy, recreateRole, setClusterRolePolicy } from './iam/roles.ts';
import { instanceTypes, nodeRoleArn } from './network.ts';
import { controllerWarningReasons, type InstanceRecord, type NodeDefect, type UpdateFailure } from './records.ts';
import type { LocalAwsState } from './state.ts';
import type { CallFaults } from './wire/callFaults.ts';
import type { Front } from './wire/front.ts';

/** A change of a group by another user. Labels, tags or taints replace the present ones as a whole. */
export interface ConsoleEdit extends Pick<CreateNodegroupRequest, 'labels' | 'taints' | 'scalingConfig' | 'tags'> {
  readonly group: string;
}

/** A change of the cluster. `runningUpdate` is the id of an update in progress, null finishes it. `autoMode` is EKS Auto Mode. */
export interface ClusterChange {
  readonly exists?: boolean;
  readonly status?: string;
  readonly version?: string;
  readonly caData?: string;
  readonly ipFamily?: string;
  readonly authenticationMode?: string;
  readonly autoMode?: boolean;
  readonly runningUpdate?: string | null;
}

/** Fault injection, and changes by other users. Faults of calls are in `calls`. */
export class Faults {
  readonly calls: CallFaults;
  readonly #cloud: LocalAwsState;
  readonly #policy: Policy;
  readonly #staleReads: Front['staleReads'];

  constructor(cloud: LocalAwsState, { policy, faults, staleReads }: Pick<Front, 'policy' | 'faults' | 'staleReads'>) {
    this.#cloud = cloud;
    this.#policy = policy;
    this.#staleReads = staleReads;
    this.calls = faults;
  }

  /** Reads of all services return responses that are up to so old. 0: current ones. */
  staleReads({ seconds }: { readonly seconds: number }): void {
    this.#staleReads.lagSeconds = seconds;
  }

  /** The next group that is created ends as CREATE_FAILED with these issues, after the time that CREATING takes. */
  createFailure(plan: { readonly group?: string; readonly issues: Issue[]; readonly afterSeconds?: number }): void {
    this.#cloud.plans.createFailures.push(plan);
  }

  /** The next update that ends fails with these errors; the group keeps its configuration. */
  updateFailure(plan: UpdateFailure): void {
    this.#cloud.plans.updateFailures.push(plan);
  }

  /** The next deletion ends as DELETE_FAILED. */
  deleteFailure(plan: { readonly group?: string; readonly issues: Issue[] }): void {
    this.#cloud.plans.deleteFailures.push(plan);
  }

  /** Gives a group health issues: an ACTIVE one turns DEGRADED; with none, a DEGRADED one turns ACTIVE. */
  healthIssue({ group: name, issues }: { readonly group: string; readonly issues: Issue[] }): void {
    const group = this.#cloud.group(name);
    group.nodegroup.health = { issues };
    const { status } = group.nodegroup;
    if (issues.length > 0 && status === 'ACTIVE') setStatus(this.#cloud, group, 'DEGRADED');
    if (issues.length === 0 && status === 'DEGRADED') setStatus(this.#cloud, group, 'ACTIVE');
  }

  /** The next instance that is launched (of that group) has this defect. */
  nextNode({ group, ...defect }: NodeDefect & { readonly group?: string }): void {
    const { controllerWarning: reason } = defect;
    if (reason !== undefined && !controllerWarningReasons.includes(reason))
      throw new RangeError(`controllerWarning is ${reason}; it can be ${controllerWarningReasons.join(' or ')}`);
    this.#cloud.plans.nodes.push({ ...(group === undefined ? {} : { group }), defect });
  }

  /** Patches a node in place, and restarts it so that its kubelet measures again. */
  patchKernel({ node, ...defect }: NodeDefect & { readonly node: string }): void {
    const instance = this.#instance(node);
    const release = releaseOf(this.#cloud, instance.releaseVersion);
    if (release !== undefined) instance.kernelVersion = kernelWith(instance.kernelVersion, defect, release);
    this.restartNode({ node });
  }

  /** Restarts a node; its kubelet restores its default labels. */
  restartNode({ node }: { readonly node: string }): void {
    restart(this.#cloud, this.#instance(node));
  }

  /** Makes a node NotReady, or Ready again. */
  nodeReady({ node, ready }: { readonly node: string; readonly ready: boolean }): void {
    this.#cloud.emit({ kind: 'ready', instance: this.#instance(node), ready });
  }

  /** Terminates the instance of a node, as a spot interruption does; the Auto Scaling group launches another. */
  terminateInstance({ node }: { readonly node: string }): void {
    terminateInstance(this.#cloud, this.#instance(node));
  }

  /** Gives the Auto Scaling group a warm pool of so many running instances, as another client of Auto Scaling does, or removes it (0). */
  warmPool({ group, size }: { readonly group: string; readonly size: number }): void {
    const record = this.#cloud.group(group);
    if (size === 0) delete record.warmPool;
    else record.warmPool = { minSize: size, maxGroupPreparedCapacity: size, poolState: 'RUNNING' };
    fillWarmPool(this.#cloud, record);
  }

  /** The pods of the next node that is drained (of that group) are not evicted, whatever their disruption budgets allow. */
  blockDrain(plan: { readonly group?: string } = {}): void {
    this.#cloud.plans.blockedDrains.push(plan);
  }

  /** Publishes newer images, or makes those of a date private (`public: false`) or public. */
  release(change: ReleaseChange): void {
    setRelease(this.#cloud, change);
  }

  /** Creates or changes an image of a user, or deregisters it. */
  image(change: ImageChange): void {
    changeImage(this.#cloud, change);
  }

  /** Sets the value of a parameter of a user in SSM, or deletes it (without `value`). */
  parameter({ name, value }: { readonly name: string; readonly value?: string }): void {
    if (!name.startsWith('/'))
      throw new RangeError(`parameter.name is ${name}; give a path such as /windowspool/golden`);
    if (value === undefined) this.#cloud.parameters.delete(name);
    else this.#cloud.parameters.set(name, value);
  }

  /** Creates a launch template or a version of it (`data` as EC2's LaunchTemplateData), or deletes one. */
  launchTemplate(change: TemplateChange): { readonly id: string; readonly version: number } {
    return changeTemplate(this.#cloud, change);
  }

  /** Upgrades the control plane to its next minor; it is UPDATING meanwhile. */
  upgradeCluster({ version }: { readonly version: string }): void {
    upgradeCluster(this.#cloud, version);
  }

  /** Rolls the control plane back after an upgrade; it is UPDATING meanwhile. */
  rollbackCluster({ force = false }: { readonly force?: boolean } = {}): void {
    rollbackCluster(this.#cloud, force);
  }

  /** Removes a permission of the caller. */
  removeAction({ action }: { readonly action: string }): void {
    this.#policy.remove(action);
  }

  /** Restores one removed action, or all. */
  restoreAction({ action }: { readonly action?: string } = {}): void {
    this.#policy.restore(action);
  }

  /** Changes a group as a user of the console does, but at once and without an update in the API. */
  edit({ group: name, labels, taints, scalingConfig, tags }: ConsoleEdit): void {
    const group = this.#cloud.group(name);
    const after = structuredClone(group.nodegroup);
    if (labels !== undefined) after.labels = labels;
    if (taints !== undefined) after.taints = taints;
    if (scalingConfig !== undefined) after.scalingConfig = { ...after.scalingConfig, ...scalingConfig };
    if (tags !== undefined) after.tags = tags;
    configure(this.#cloud, group, after);
    checkLaunches(this.#cloud, group);
  }

  /** Creates a group as another user, without an IAM check. */
  consoleCreate(request: Omit<CreateNodegroupRequest, 'clusterName'>): void {
    createNodegroup(this.#cloud, { ...request, clusterName: this.#cloud.cluster.name });
  }

  /** Deletes a group as another user. */
  consoleDelete({ group }: { readonly group: string }): void {
    deleteNodegroup(this.#cloud, group);
  }

  /** Changes the cluster: whether it exists, its status, certificate authority, running update and settings. */
  cluster(change: ClusterChange): void {
    const { runningUpdate, ...rest } = change;
    checkValue('cluster.status', change.status, ClusterStatus);
    checkValue('cluster.ipFamily', change.ipFamily, IpFamily);
    checkValue('cluster.authenticationMode', change.authenticationMode, AuthenticationMode);
    Object.assign(this.#cloud.clusterState, rest);
    if (runningUpdate === null) delete this.#cloud.clusterState.runningUpdate;
    else if (runningUpdate !== undefined) this.#cloud.clusterState.runningUpdate = runningUpdate;
  }

  /** Adds, changes or removes (`exists: false`) an add-on, and applies its settings to the cluster. `configurationValues` is JSON or YAML as text. */
  addon(change: AddonChange): void {
    setAddon(this.#cloud, change);
    this.#cloud.applyAddon('OVERWRITE', () => {});
  }

  /** The next update of an add-on fails: it is UPDATE_FAILED, with this health issue. */
  addonFailure(plan: AddonIssue): void {
    checkValue('code', plan.code, AddonIssueCode);
    this.#cloud.plans.addonFailures.push(plan);
  }

  /** Attaches a policy to the role of the cluster (that of the VPC resource controller, if no other is named), or detaches it. */
  clusterRolePolicy({
    name = controllerPolicy,
    attached,
  }: {
    readonly name?: string;
    readonly attached: boolean;
  }): void {
    setClusterRolePolicy(this.#cloud, name, attached);
  }

  /** Gives a principal (the node role) an access entry of a type, in place of its present one; `exists: false` deletes it. */
  accessEntry(change: { readonly principalArn?: string; readonly type?: string; readonly exists?: boolean }): void {
    setEntry(this.#cloud, { principalArn: nodeRoleArn, ...change });
  }

  /** Deletes a role (the node role) and creates it again: it gets another ID, so that its access entry no longer applies to it. */
  recreateRole({ name = 'windows-nodes' }: { readonly name?: string } = {}): void {
    recreateRole(this.#cloud, name);
    accessChanged(this.#cloud);
  }

  /** Sets how many addresses of a subnet are free, or its tags in addition to that of the cluster. */
  subnet({
    id,
    freeAddresses,
    tags,
  }: {
    readonly id: string;
    readonly freeAddresses?: number;
    readonly tags?: Readonly<Record<string, string>>;
  }): void {
    const subnet = this.#cloud.subnets.find((candidate) => candidate.id === id);
    const ids = this.#cloud.subnets.map((candidate) => candidate.id).join(', ');
    if (subnet === undefined) throw new RangeError(`there is no subnet ${id}; there are ${ids}`);
    if (tags !== undefined) subnet.tags = tags;
    if (freeAddresses === undefined) return;
    if (!Number.isInteger(freeAddresses) || freeAddresses < 0)
      throw new RangeError(`freeAddresses is ${freeAddresses}; give a whole number from 0`);
    subnet.freeAddresses = freeAddresses;
    retryLaunches(this.#cloud);
  }

  /** Offers an instance type only in these zones, such as `us-west-2a`; without `zones` in all again. */
  offering({ instanceType, zones }: { readonly instanceType: string; readonly zones?: readonly string[] }): void {
    const all = this.#cloud.subnets.map(({ zone }) => zone);
    const wrong = zones?.find((zone) => !all.includes(zone));
    if (wrong !== undefined) throw new RangeError(`there is no zone ${wrong}; there are ${all.join(', ')}`);
    if (!instanceTypes.some(({ InstanceType }) => InstanceType === instanceType))
      throw new RangeError(`there is no instance type ${instanceType}; network.ts lists them`);
    if (zones === undefined) this.#cloud.offerings.delete(instanceType);
    else this.#cloud.offerings.set(instanceType, [...zones]);
    retryLaunches(this.#cloud);
  }

  /** Changes or deletes a security group, or creates one without rules. */
  securityGroup(change: SecurityGroupChange): void {
    changeSecurityGroup(this.#cloud, change);
    retryLaunches(this.#cloud);
  }

  /** Has the account encrypt new volumes by default, or not. */
  volumeEncryption({ enabled }: { readonly enabled: boolean }): void {
    this.#cloud.encryptsVolumes = enabled;
  }

  /** How many times faster than the defaults time runs. */
  speed({ speed }: { readonly speed: number }): void {
    this.#cloud.timeline.speed = speed;
  }

  #instance(node: string): InstanceRecord {
    const living = [...this.#cloud.instances.values()].filter(({ state }) => state !== 'terminated');
    const instance = living.find(({ nodeName, id }) => nodeName === node || id === node);
    if (instance !== undefined) return instance;
    const names = living.map(({ nodeName }) => nodeName).join(', ');
    throw new RangeError(`there is no node ${node}; the nodes are ${names === '' ? 'none' : names}`);
  }
}

function checkValue(name: string, value: string | undefined, allowed: Readonly<Record<string, string>>): void {
  const values = Object.values(allowed);
  if (value !== undefined && !values.includes(value))
    throw new RangeError(`${name} is ${value}; it can be ${values.join(' or ')}`);
}
