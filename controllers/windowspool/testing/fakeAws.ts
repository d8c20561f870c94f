/** EKS, EC2 and Auto Scaling of the fake world: node groups that move on when they are looked at, and whose nodes join the cluster. */

import { NODE_GROUP_LABEL } from '../labels.ts';
import type { CallResult } from '../ports/callResult.ts';
import type { Instance } from '../ports/ec2.ts';
import type { Cluster, ConfigChange, NewNodeGroup, NodeGroup, NodeGroupUpdate, VersionChange } from '../ports/eks.ts';
import type { Taint } from '../ports/nodes.ts';
import type { AccessEntry, Addon, ControllerWarning, LaunchTemplate, RoleMapping } from '../ports/prerequisites.ts';
import type { Deps } from '../reconcile.ts';
import { flat } from './fakeCalls.ts';
import { FakeCluster, sameTaint } from './fakeCluster.ts';
import { sampleCluster, sampleError, sampleNode, sampleNodes, templateOfGroup } from './fixtures.ts';
import { sampleConfigMapOwner } from './prerequisites.ts';

export class FakeAws extends FakeCluster {
  groups = new Map<string, NodeGroup>();
  updates = new Map<string, NodeGroupUpdate>();
  instances: Instance[] = [];
  /** What the cluster has of what pools need. */
  prerequisites = {
    cniConfig: { 'enable-windows-ipam': 'true' } as Readonly<Record<string, string>> | undefined,
    cniAddon: undefined as Addon | undefined,
    /** What manages the ConfigMap. */
    cniManagedBy: undefined as string | undefined,
    accessEntry: { type: 'EC2_WINDOWS' } as AccessEntry | undefined,
    roleMappings: [] as readonly RoleMapping[],
    freeAddresses: 251,
    clusterRolePolicies: ['AmazonEKSVPCResourceController'] as readonly string[],
  };
  /** What the VPC resource controller warns of, by node. */
  readonly controllerWarnings = new Map<string, readonly ControllerWarning[]>();
  newestRelease: string | undefined = '1.36-2026.02.11';
  /** Whether EKS publishes an AMI for versions that are not in the operator's table. */
  hasAmi = true;
  /** The versions of the one launch template, by number and by word. */
  launchTemplates = new Map<string, LaunchTemplate>();
  /** Tags of scaling groups; a group has those of EKS from its beginning. */
  scalingTags = new Map<string, Readonly<Record<string, string>>>();
  clusterIsOurs = true;
  cluster: Partial<Cluster> = {};
  /** Instances of other scaling groups than their nodes say. */
  readonly strangers = new Map<string, string>();
  /** How long an instance runs on after its end was asked for. */
  hookMs = 0;
  /** Instances that run on until then. */
  readonly ending = new Map<string, { readonly until: number; readonly shrink: boolean }>();
  /** The instances that the operator ended. */
  readonly ended: string[] = [];
  /** How many node groups were ever made. */
  created = 0;
  /** How many looks a group stays CREATING, UPDATING or DELETING. */
  looks = 1;
  /** How every update ends: well, or with these errors and the group as it was. */
  updateErrors: NodeGroupUpdate['errors'] = [];
  protected readonly tokens = new Map<string, string>();
  protected readonly left = new Map<string, number>();
  protected readonly beforeUpdate = new Map<string, NodeGroup>();

  /** The domain's ports to AWS, and to what prerequisites are about. */
  protected awsPorts() {
    return {
      clusters: {
        describe: () =>
          this.call('DescribeCluster', () => sampleCluster({ isOurs: this.clusterIsOurs, ...this.cluster })),
      },
      nodeGroups: {
        describe: (name) => this.call('DescribeNodegroup', () => this.look(name)),
        create: (desired, token) => this.call('CreateNodegroup', () => this.create(desired, token)).then(flat),
        updateConfig: (name, change, token) =>
          this.call('UpdateNodegroupConfig', () => this.update(name, change, token)).then(flat),
        updateVersion: (name, change, token) =>
          this.call('UpdateNodegroupVersion', () => this.updateVersion(name, change, token)).then(flat),
        describeUpdate: (_name, id) => this.call('DescribeUpdate', () => this.updates.get(id)),
        delete: (name) => this.call('DeleteNodegroup', () => this.delete(name)),
        tag: (arn, tags) => this.call('TagResource', () => this.tag(arn, (now) => ({ ...now, ...tags }))),
        untag: (arn, keys) =>
          this.call('UntagResource', () =>
            this.tag(arn, (now) => Object.fromEntries(Object.entries(now).filter(([key]) => !keys.includes(key)))),
          ),
      },
      addons: {
        find: () => this.call('DescribeAddon', () => this.lookAtAddon()),
        configure: (_name, _values, seen) =>
          this.call('UpdateAddon', () => {
            // The add-on that EKS has by then.
            const addon = this.prerequisites.cniAddon;
            if (addon?.status !== seen.status) return;
            this.prerequisites = { ...this.prerequisites, cniAddon: { ...addon, status: 'UPDATING' } };
          }),
      },
      accessEntries: {
        find: () => this.call('DescribeAccessEntry', () => this.prerequisites.accessEntry),
        create: (role, token) =>
          this.call('CreateAccessEntry', () => {
            // The answer to a token is given again, whatever became of the entry.
            if (this.tokens.has(token)) return;
            this.tokens.set(token, role);
            this.prerequisites = { ...this.prerequisites, accessEntry: { type: 'EC2_WINDOWS' } };
          }),
      },
      capacity: {
        instanceTypes: (names) =>
          this.call('DescribeInstanceTypes', () =>
            names.map((name) => ({ name, architectures: ['x86_64'], addressesPerInterface: 10 })),
          ),
        offerings: (names) =>
          this.call('DescribeInstanceTypeOfferings', () =>
            names.map((instanceType) => ({ instanceType, zone: 'eu-west-1a' })),
          ),
        subnets: (ids) =>
          this.call('DescribeSubnets', () =>
            ids.map((id) => ({ id, zone: 'eu-west-1a', freeAddresses: this.prerequisites.freeAddresses })),
          ),
      },
      rolePolicies: {
        attachedTo: () => this.call('ListAttachedRolePolicies', () => this.prerequisites.clusterRolePolicies),
      },
      launchTemplates: {
        find: ({ version }) => this.call('DescribeLaunchTemplateVersions', () => this.launchTemplates.get(version)),
      },
      system: {
        cniConfig: () => this.call('get ConfigMap amazon-vpc-cni', () => this.prerequisites.cniConfig),
        cniConfigOwner: () =>
          this.call(
            'get owner of ConfigMap amazon-vpc-cni',
            () => this.prerequisites.cniConfig && sampleConfigMapOwner({ managedBy: this.prerequisites.cniManagedBy }),
          ),
        setCniConfig: (key, value) =>
          this.call('patch ConfigMap amazon-vpc-cni', () => {
            const cniConfig = { ...this.prerequisites.cniConfig, [key]: value };
            this.prerequisites = { ...this.prerequisites, cniConfig };
          }),
        roleMappings: () => this.call('get ConfigMap aws-auth', () => this.prerequisites.roleMappings),
        legacyController: () => this.call('get Deployment vpc-resource-controller', () => false),
        controllerWarnings: ({ name }) => this.call('list events', () => this.controllerWarnings.get(name) ?? []),
        podWebhook: () => this.call('get MutatingWebhookConfiguration', () => true),
        linuxNode: () => this.call('list Linux nodes', () => true),
        linuxGroups: () => this.call('list Linux groups', () => []),
      },
      releases: {
        newest: () => this.call('GetParameter', () => this.newestRelease),
        exists: () => this.call('GetParameter', () => this.hasAmi),
      },
      scalingGroups: {
        tags: () =>
          this.call('DescribeAutoScalingGroups', () =>
            Object.fromEntries(
              [...this.groups.values()].flatMap(({ autoScalingGroups }) =>
                autoScalingGroups.map((name) => [name, this.scalingTags.get(name) ?? {}]),
              ),
            ),
          ),
        setTags: (name, tags) =>
          this.call('CreateOrUpdateTags', () => {
            this.scalingTags.set(name, { ...this.scalingTags.get(name), ...tags });
          }),
        removeTags: (name, keys) =>
          this.call('DeleteTags', () => {
            const kept = Object.entries(this.scalingTags.get(name) ?? {}).filter(([key]) => !keys.includes(key));
            this.scalingTags.set(name, Object.fromEntries(kept));
          }),
        lifecycleOf: (group, id) => this.call('DescribeAutoScalingGroups', () => this.lifecycleOf(group, id)),
        terminateInstance: (id, shrink) => this.call('TerminateInstanceInAutoScalingGroup', () => this.end(id, shrink)),
      },
      instances: {
        ofScalingGroup: () => this.call('DescribeInstances', () => this.instances),
        find: (id) =>
          this.call('DescribeInstances', () => {
            const scalingGroup = this.scalingGroupOf(id);
            const privateDnsName = this.nodes.find(({ providerID }) => providerID.endsWith(`/${id}`))?.name ?? '';
            return scalingGroup === undefined ? undefined : { state: 'running', scalingGroup, privateDnsName };
          }),
      },
    } satisfies Partial<Deps>;
  }

  protected override isGroup(name: string): boolean {
    return this.groups.has(name);
  }

  /** One that is UPDATING has its new configuration at the next look, and so has the ConfigMap. */
  protected lookAtAddon(): Addon | undefined {
    const { cniAddon: addon, cniConfig } = this.prerequisites;
    if (addon?.status !== 'UPDATING') return addon;
    this.prerequisites = {
      ...this.prerequisites,
      cniAddon: { ...addon, status: 'ACTIVE', windowsIpam: true, modifiedAt: this.now },
      cniConfig: { ...cniConfig, 'enable-windows-ipam': 'true' },
    };
    return addon;
  }

  protected look(name: string): NodeGroup | undefined {
    const left = (this.left.get(name) ?? 0) - 1;
    this.left.set(name, left);
    if (left < 0) this.settle(name);
    return this.groups.get(name);
  }

  protected settle(name: string): void {
    const group = this.groups.get(name);
    if (group?.status === 'DELETING') this.groups.delete(name);
    if (group?.status !== 'CREATING' && group?.status !== 'UPDATING') return;
    const before = this.updateErrors.length > 0 ? this.beforeUpdate.get(name) : undefined;
    this.groups.set(name, { ...(before ?? group), status: 'ACTIVE', autoScalingGroups: [`eks-${name}`] });
    for (const [id, update] of this.updates) {
      if (update.status !== 'InProgress') continue;
      this.updates.set(id, { ...update, status: before ? 'Failed' : 'Successful', errors: this.updateErrors });
    }
    if (this.nodes.length > 0) return;
    this.nodes = sampleNodes(group.scaling.desired).map((node) => ({ ...node, taints: group.taints }));
  }

  protected create(desired: NewNodeGroup, token: string): CallResult<NodeGroup> {
    const existing = this.groups.get(desired.name);
    if (existing)
      return this.tokens.get(token) === existing.arn
        ? { ok: true, value: existing }
        : { ok: false, error: sampleError('busy', { message: 'NodeGroup already exists' }) };
    this.created += 1;
    this.ids += 1;
    const group: NodeGroup = {
      ...desired,
      diskSizeGiB: desired.diskSizeGiB,
      launchTemplate: templateOfGroup(desired),
      arn: `arn:aws:eks:eu-west-1:111122223333:nodegroup/prod/${desired.name}/${this.ids}`,
      status: 'CREATING',
      update: { maxUnavailable: '1', strategy: 'Default', ...desired.update },
      kubernetesVersion: desired.kubernetesVersion ?? '1.36',
      releaseVersion: desired.releaseVersion ?? `${desired.kubernetesVersion ?? '1.36'}-2026.02.11`,
      healthIssues: [],
      autoScalingGroups: [],
      modifiedAt: this.now,
    };
    this.groups.set(desired.name, group);
    this.tokens.set(token, group.arn);
    this.left.set(desired.name, this.looks);
    return { ok: true, value: group };
  }

  protected update(
    name: string,
    { labels, taints, scaling, update }: ConfigChange,
    token: string,
  ): CallResult<NodeGroupUpdate> {
    const removed = (taint: Taint) => taints?.remove.some((other) => sameTaint(taint, other)) === true;
    return this.startUpdate(name, 'ConfigUpdate', token, (group) => ({
      scaling: { ...group.scaling, ...scaling },
      update: { ...group.update, ...update },
      labels: {
        ...Object.fromEntries(Object.entries(group.labels).filter(([key]) => !labels?.remove.includes(key))),
        ...labels?.set,
      },
      taints: taints ? [...group.taints.filter((taint) => !removed(taint)), ...taints.set] : group.taints,
    }));
  }

  /** The newest release of each minor is of 2026.03.17. */
  protected updateVersion(
    name: string,
    { kubernetesVersion, releaseVersion, launchTemplate }: VersionChange,
    token: string,
  ): CallResult<NodeGroupUpdate> {
    return this.startUpdate(name, 'VersionUpdate', token, () => ({
      kubernetesVersion,
      releaseVersion: releaseVersion ?? `${kubernetesVersion}-2026.03.17`,
      ...(launchTemplate && { launchTemplate: templateOfGroup({ launchTemplate }) }),
    }));
  }

  protected startUpdate(
    name: string,
    type: string,
    token: string,
    how: (group: NodeGroup) => Partial<NodeGroup>,
  ): CallResult<NodeGroupUpdate> {
    const known = this.tokens.get(token);
    const replayed = known === undefined ? undefined : this.updates.get(known);
    if (replayed) return { ok: true, value: replayed };
    const group = this.groups.get(name);
    if (!group) return { ok: false, error: sampleError('gone') };
    if (group.status !== 'ACTIVE') return { ok: false, error: sampleError('busy') };
    const changed = { ...group, ...how(group), status: 'UPDATING' } as const;
    this.groups.set(name, changed);
    if (changed.taints !== group.taints) this.retaint(group.taints, changed.taints);
    this.beforeUpdate.set(name, group);
    this.left.set(name, this.looks);
    this.ids += 1;
    const update = {
      id: `u-${this.ids}`,
      type,
      status: 'InProgress',
      createdAt: this.now,
      errors: [],
    } as const;
    this.updates.set(update.id, update);
    this.tokens.set(token, update.id);
    return { ok: true, value: update };
  }

  /** As EKS does: what the group gets or loses, its living nodes get or lose. */
  protected retaint(before: readonly Taint[], after: readonly Taint[]): void {
    const ofGroup = [...before, ...after];
    for (const node of this.nodes) {
      const kept = node.taints.filter((taint) => !ofGroup.some((other) => sameTaint(taint, other)));
      this.setNode({ ...node, taints: [...kept, ...after] });
    }
  }

  protected delete(name: string): void {
    const group = this.groups.get(name);
    if (!group) return;
    this.groups.set(name, { ...group, status: 'DELETING' });
    this.left.set(name, this.looks);
    this.nodes = [];
  }

  protected lifecycleOf(group: string, id: string): string | undefined {
    if (this.ending.has(id)) return 'Terminating:Wait';
    return this.scalingGroupOf(id) === group ? 'InService' : undefined;
  }

  /** The scaling group of the instance that is a node. */
  scalingGroupOf(id: string): string | undefined {
    if (this.strangers.has(id)) return this.strangers.get(id);
    const late = this.instances.some((instance) => instance.id === id);
    if (late) return [...this.groups.values()][0]?.autoScalingGroups[0];
    const node = this.nodes.find(({ providerID }) => providerID.endsWith(`/${id}`));
    return node && this.groups.get(node.labels[NODE_GROUP_LABEL] ?? '')?.autoScalingGroups[0];
  }

  /** The size changes at once; the instance runs on for `hookMs`, as EKS' lifecycle hook has it. A second call shrinks once more. */
  protected end(id: string, shrink: boolean): void {
    const node = this.nodes.find(({ providerID }) => providerID.endsWith(`/${id}`));
    const isLate = this.instances.some((instance) => instance.id === id);
    const group = isLate ? [...this.groups.values()][0] : this.groups.get(node?.labels[NODE_GROUP_LABEL] ?? '');
    if (!group) return;
    this.ended.push(id);
    if (isLate) {
      this.instances = this.instances.filter((instance) => instance.id !== id);
      this.launch();
      return;
    }
    const { scaling } = group;
    if (shrink) this.groups.set(group.name, { ...group, scaling: { ...scaling, desired: scaling.desired - 1 } });
    this.ending.set(id, { until: this.now + this.hookMs, shrink });
    this.finishEndings();
  }

  /** Its node goes with an instance that has ended, and another one comes at once, unless the group gets smaller. */
  finishEndings(): void {
    for (const [id, { until, shrink }] of this.ending) {
      const node = this.nodes.find(({ providerID }) => providerID.endsWith(`/${id}`));
      if (this.now < until || !node) continue;
      this.ending.delete(id);
      this.nodes = this.nodes.filter((each) => each !== node);
      if (!shrink) this.launch();
    }
    this.reportNodes();
  }

  protected launch(): void {
    this.ids += 1;
    const name = `ip-10-0-2-${this.ids}.eu-west-1.compute.internal`;
    this.nodes = [...this.nodes, sampleNode({ name, createdAt: this.now })];
    this.reportNodes();
  }

  protected tag(arn: string, how: (tags: NodeGroup['tags']) => NodeGroup['tags']): void {
    for (const [name, group] of this.groups) {
      if (group.arn === arn) this.groups.set(name, { ...group, tags: how(group.tags) });
    }
  }
}
