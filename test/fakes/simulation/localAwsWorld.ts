/**
 * The operator without a network: its domain and its AWS adapters on the local AWS in memory, with a small API server beside it
 * and one clock for all. Nothing here is random or reads the system clock, so the same actions give the same life.
 */

import type { WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import {
  CORDONED_ANNOTATION,
  NODE_GROUP_LABEL,
  RETRY_ANNOTATION,
} from '../../../controllers/windowspool/api/labels.ts';
import type { Settings } from '../../../controllers/windowspool/model/observedState.ts';
import type { NodeRecord } from '../../../controllers/windowspool/ports/nodes.ts';
import type { Deps } from '../../../controllers/windowspool/reconcile.ts';
import { AUTHORITY } from '../../../controllers/windowspool/testing/cloudWorld.ts';
import { Crash, FakeWorld } from '../../../controllers/windowspool/testing/fakeWorld.ts';
import { settings } from '../../../controllers/windowspool/testing/fixtures.ts';
import { durationOf } from '../../../controllers/windowspool/util/durations.ts';
import { subnetIds } from '../localaws/network.ts';
import { releaseDays } from '../localaws/releases.ts';
import type { Switches } from '../localaws/switches.ts';
import { sampleCluster } from '../localaws/testing/fixtures.ts';
import { type GroupView, NodeInvariants, viewOf } from './nodeInvariants.ts';
import { OddAnswers } from './oddAnswers.ts';
import { faultInRecord } from './secondGroupInvariants.ts';
import { Workload } from './workload.ts';

const modelCluster = { ...sampleCluster, caData: Buffer.from(AUTHORITY).toString('base64') };

/** As in the flags' defaults, but for the cluster. A second of the local AWS stands for a minute of the real one. */
const modelSettings: Settings = { ...settings, clusterName: sampleCluster.name, region: sampleCluster.region };

/** A launch template that exists from the beginning. */
export const TEMPLATE = 'windows';

/** The scripts for nodes in ConfigMap `windows`, by their keys. */
export const SCRIPTS: Readonly<Record<string, string>> = { 'a.ps1': 'Write-Host a', 'b.ps1': 'Write-Host b' };

/** Custom AMIs, and the SSM parameter that has the first of them at the beginning. */
export const IMAGES = ['ami-0a000001', 'ami-0a000002'] as const;
export const IMAGE_PARAMETER = '/windowspool/golden';

/** The options of such a world. */
interface CloudWorldOptions {
  /** The version of the cluster, such as `1.36`. */
  readonly kubernetesVersion?: string;
  /** The local AWS' answers to open questions about EKS. */
  readonly switches?: Partial<Switches>;
  /** How long a pod takes to terminate. */
  readonly podGraceSeconds?: number | undefined;
  /** The speed of the local AWS; at 1, one of its seconds stands for a minute of the real EKS. */
  readonly speed?: number;
}

export class LocalAwsWorld extends FakeWorld {
  /** Invariants that were broken. */
  readonly violations: string[] = [];
  readonly workload: Workload;
  readonly #nodeInvariants = new NodeInvariants(this, modelSettings.maxPoolsUpdating);
  /** What AWS answers to reads, which can be wrong. */
  readonly oddAnswers = new OddAnswers();
  /** Groups that other users changed. */
  readonly edited = new Set<string>();
  /** Pools whose users have set deletionPolicy to Retain at some time. */
  readonly retained = new Set<string>();
  /** Calls of the operator that change something in AWS. */
  readonly writes: string[] = [];
  /** How many calls of ports the process still makes before it crashes. */
  callsLeft = Number.POSITIVE_INFINITY;

  /** Pools that came from a backup. */
  readonly #restored = new Set<string>();

  /** The updates that EKS accepted since the last change of a spec, by their requests without token. */
  readonly #sent = new Map<string, string>();

  constructor({ kubernetesVersion = '1.35', switches = {}, podGraceSeconds, speed = 1 }: CloudWorldOptions = {}) {
    super({
      cluster: { ...modelCluster, kubernetesVersion },
      switches: { releaseInEks: 'later', ...switches },
      speed,
      subnetIds,
      releases: releaseDays,
    });
    this.workload = new Workload(this, (pod) => this.#nodeInvariants.checkEviction(pod), podGraceSeconds);
    this.cloud.faults.launchTemplate({ name: TEMPLATE, data: {} });
    this.scripts.set('windows', SCRIPTS);
    for (const id of IMAGES) this.cloud.faults.image({ id });
    this.cloud.faults.parameter({ name: IMAGE_PARAMETER, value: IMAGES[0] });
  }

  /** After a change of a spec or a retry, failed updates may be sent again. */
  override apply(pool: Parameters<FakeWorld['apply']>[0]): void {
    this.#sent.clear();
    super.apply(pool);
  }

  override restore(pool: WindowsPool): void {
    this.#restored.add(pool.metadata.name);
    super.restore(pool);
  }

  /** Lets time pass, in milliseconds. */
  pass(ms: number): void {
    this.now += ms;
    this.workload.pass();
  }

  /** The nodes of a group. */
  nodesOf(group: string): readonly NodeRecord[] {
    return this.nodes.filter(({ labels }) => labels[NODE_GROUP_LABEL] === group);
  }

  /** A kubelet stops or resumes reporting. */
  setReady(name: string, ready: boolean): void {
    const instance = [...this.cloud.state.instances.values()].find(({ nodeName }) => nodeName === name);
    if (instance?.state === 'running') this.cloud.faults.nodeReady({ node: instance.id, ready });
  }

  override start(): Deps {
    this.callsLeft = Number.POSITIVE_INFINITY;
    return this.#withCrashes({ ...super.start(), settings: modelSettings, drains: this.workload });
  }

  /** Records a violation of an invariant. */
  broken(text: string): void {
    this.violations.push(text);
  }

  /** What the operator can have read of a group: here, reads are never stale. */
  viewsOf(name: string): readonly GroupView[] {
    return [viewOf(this.cloud.state.groups.get(name))];
  }

  protected override changeNode(
    seen: NodeRecord,
    how: (now: NodeRecord) => NodeRecord,
  ): ReturnType<FakeWorld['changeNode']> {
    return super.changeNode(seen, (now) => {
      const after = how(now);
      if (!(CORDONED_ANNOTATION in now.annotations) && CORDONED_ANNOTATION in after.annotations)
        this.#nodeInvariants.checkCordon(now);
      return after;
    });
  }

  protected override change(
    pool: WindowsPool,
    how: (now: WindowsPool) => WindowsPool,
  ): ReturnType<FakeWorld['change']> {
    const { name } = pool.metadata;
    const before = this.pools.get(name);
    const answer = super.change(pool, how);
    const after = this.pools.get(name);
    this.#nodeInvariants.checkReservation(before, after);
    const fault = faultInRecord(before, after, this.#restored.has(name));
    if (fault !== undefined) this.broken(`pool ${name} records ${fault}`);
    return answer;
  }

  /** Crashes the process after one of the next calls, which keeps its effect. */
  #withCrashes(deps: Deps): Deps {
    const ports = [
      'pools',
      'budget',
      'nodeGroups',
      'accessEntries',
      'ownTemplates',
      'nodes',
      'drains',
      'instances',
      'scalingGroups',
      'runtimeClasses',
    ] as const;
    const wrapped = ports.map((name) => [name, this.#counted(deps[name])] as const);
    return { ...deps, ...Object.fromEntries(wrapped) };
  }

  #counted<P extends object>(port: P): P {
    return new Proxy(port, {
      get: (target, key) => {
        const method: unknown = Reflect.get(target, key);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => {
          const result: unknown = method.apply(target, args);
          if (!(result instanceof Promise)) return result;
          this.callsLeft -= 1;
          const crashes = this.callsLeft <= 0;
          return result.then((value) => {
            if (crashes) throw new Crash(`after ${String(key)}`);
            return value;
          });
        };
      },
    });
  }

  protected override async deliver(operation: string, input: object, signal: AbortSignal): Promise<unknown> {
    if (isWrite(operation)) this.#checkWrite(operation, input);
    const ask = () => super.deliver(operation, input, signal);
    const output = isWrite(operation) ? await ask() : await this.oddAnswers.answer(operation, input, this.now, ask);
    const { update } = output as { readonly update?: { readonly id?: string } };
    if (operation.startsWith('UpdateNodegroup') && update?.id !== undefined) this.#follows(operation, input, update.id);
    return output;
  }

  /** Records an update that EKS accepted. Repeating the call of a failed one with its token is no new update: it returns the result. */
  #follows(operation: string, input: { nodegroupName?: string }, id: string): void {
    const before = this.#sent.get(requestedBy(input));
    const { status } = this.cloud.state.updates.get(before ?? '')?.update ?? {};
    if (before !== id && status === 'Failed')
      this.broken(`${operation} of ${input.nodegroupName} is repeated though it failed`);
    this.#sent.set(requestedBy(input), id);
  }

  /** Checks a write at the moment it is sent. */
  #checkWrite(operation: string, input: CheckedInput): void {
    this.cloud.state.timeline.settle();
    const { groups, updates } = this.cloud.state;
    const { nodegroupName: name = '', InstanceId: instance, ShouldDecrementDesiredCapacity: shrink = false } = input;
    if (instance !== undefined) this.#nodeInvariants.checkTermination(instance, shrink);
    this.writes.push(`${operation} ${name}`);
    if (operation === 'CreateNodegroup') {
      const pool = input.tags?.['winpool.dev/pool'];
      const others = [...groups.values()].filter(
        (one) => one.name !== name && one.nodegroup.tags?.['winpool.dev/pool'] === pool,
      );
      const { replacement, canary } = this.pools.get(pool ?? '')?.status?.nodeGroup ?? {};
      if (others.length > Number((replacement ?? canary) !== undefined))
        this.broken(`pool ${pool} gets another group ${name}`);
    }
    if (operation === 'DeleteNodegroup') this.#checkDeletion(name);
    // EKS returns the answer of the first call, and does nothing.
    if (this.cloud.state.tokens.has(`${operation}/${input.clientRequestToken}`)) return;
    if (operation.startsWith('UpdateNodegroup')) {
      const running = [...updates.values()].some(
        ({ group, update }) => group === name && update.status === 'InProgress',
      );
      // EKS refuses it, so a false status costs no more.
      const isMisled = /^the node group (?:is|as)\b/.test(this.oddAnswers.given ?? '');
      if (running && !isMisled) this.broken(`${operation} of ${name} during another update`);
    }
    if (operation === 'UpdateNodegroupVersion') {
      const pool = this.pools.get(groups.get(name)?.nodegroup.tags?.['winpool.dev/pool'] ?? '');
      const leaving = pool?.status?.disruption?.nodes;
      if (leaving) this.broken(`${name} is updated while ${leaving.map((one) => one.name)} go`);
      if (pool?.status?.nodeGroup?.replacement) this.broken(`${name} is updated while it replaces another group`);
      if (pool) this.#checkRollback(pool, input.releaseVersion ?? '');
      if (pool) this.#checkCanary(pool, name, input.releaseVersion ?? this.#imageIn(input));
      const limit = pool?.spec.disruption?.maxUnavailable;
      const { maxUnavailable, maxUnavailablePercentage } = groups.get(name)?.nodegroup.updateConfig ?? {};
      const taken = maxUnavailablePercentage === undefined ? maxUnavailable : `${maxUnavailablePercentage}%`;
      if (limit !== undefined && limit !== taken)
        this.broken(`${name} is updated by ${taken} nodes at a time, not ${limit}`);
      const rolling = [...groups.values()].filter((one) => one.rollout !== undefined && one.name !== name);
      if (rolling.length >= modelSettings.maxPoolsUpdating)
        this.broken(`${name} is updated while ${rolling.map((one) => one.name)} is`);
    }
  }

  /** A group that serves and has Ready nodes is deleted only with its pool, or if it failed, and never if the pool retains it. */
  #checkDeletion(name: string): void {
    const { tags, status } = this.cloud.state.groups.get(name)?.nodegroup ?? {};
    const pool = this.pools.get(tags?.['winpool.dev/pool'] ?? '');
    const ready = this.nodesOf(name).filter((node) => node.ready === 'True').length;
    const isDeleted = pool?.metadata.deletionTimestamp !== undefined;
    const { name: main, replacement } = pool?.status?.nodeGroup ?? {};
    // The new group of a replacement, for another spec: it has not served.
    const isOutdated = main === name && ['Creating', 'Verifying'].includes(replacement?.phase ?? '');
    if (isDeleted && pool.spec.deletionPolicy === 'Retain') this.broken(`${name} is deleted, and its pool retains it`);
    if (!isDeleted && !isOutdated && !status?.endsWith('_FAILED') && ready > 0)
      this.broken(`${name} is deleted while it is ${status} and has ${ready} Ready nodes`);
  }

  /** A group that was rolled back gets the Kubernetes version that it had only if the user asks for it, or the cluster has followed. */
  #checkRollback({ metadata, spec, status }: WindowsPool, release: string): void {
    const { rollback, kubernetesVersion = '' } = status?.nodeGroup ?? {};
    const { releaseVersion, kubernetesVersion: pin } = spec.nodeGroup ?? {};
    const isAsked = releaseVersion !== undefined || pin !== undefined;
    const isRetried = metadata.annotations?.[RETRY_ANNOTATION] !== rollback?.retry;
    const hasFollowed = this.cloud.state.clusterState.version === kubernetesVersion;
    if (!rollback || isAsked || isRetried || hasFollowed || release.startsWith(kubernetesVersion)) return;
    this.broken(`${metadata.name} is updated to ${release}, and was rolled back from ${rollback.from}`);
  }

  /** The custom AMI of an update, which EKS reports as the release of its group. */
  #imageIn({ launchTemplate: { id = '', version } = {} }: CheckedInput): string | undefined {
    const versions = this.cloud.state.launchTemplates.get(id)?.versions;
    return versions?.find(({ number }) => String(number) === version)?.data.ImageId;
  }

  /** A pool whose spec asks for a canary is only updated to a release of which a canary has all of its nodes Ready, for long enough. */
  #checkCanary({ spec, status }: WindowsPool, name: string, release: string | undefined): void {
    const { canary } = spec.nodeGroup?.update ?? {};
    if (!canary) return;
    const tried = status?.nodeGroup?.canary;
    const age = this.now - Date.parse((tried?.phase === 'Soaking' && tried.lastTransitionTime) || '');
    const nodes = this.nodesOf(tried?.name ?? '');
    const found = this.cloud.state.groups.get(tried?.name ?? '')?.nodegroup.releaseVersion;
    // Times in status are in whole seconds.
    if (tried && found === release && age >= durationOf(canary.soakDuration) && nodes.length >= canary.nodes) return;
    this.broken(`${name} is updated to ${release}, and its canary ${tried?.name} has ${found} since ${age} ms`);
  }

  protected override joined(node: string): void {
    this.workload.join(node);
  }

  protected override left(node: string): void {
    this.workload.leave(node);
  }
}

/** Whether an operation of AWS changes something. */
function isWrite(operation: string): boolean {
  return /^(Create|Update|Delete|Tag|Untag|Terminate)/.test(operation);
}

/** The fields of a write that are checked. */
interface CheckedInput {
  readonly nodegroupName?: string;
  readonly clientRequestToken?: string;
  readonly releaseVersion?: string;
  readonly launchTemplate?: { readonly id?: string; readonly version?: string };
  readonly tags?: Readonly<Record<string, string>>;
  readonly InstanceId?: string;
  readonly ShouldDecrementDesiredCapacity?: boolean;
}

/** The request of an update without its token. */
function requestedBy(input: object): string {
  return JSON.stringify({ ...input, clientRequestToken: undefined });
}
