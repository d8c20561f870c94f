/*
 * The ConfigMaps of kube-system that Windows nodes depend on: amazon-vpc-cni (whether the VPC resource controller assigns them pod
 * addresses) and aws-auth (the roles that can join). Names and keys: the user guide of EKS.
 */
import type { ResolveConflicts } from '@aws-sdk/client-eks';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { parseDocument, stringify } from 'yaml';
import { valuesOf } from '../eks/addons.ts';
import type { LocalAwsState } from '../state.ts';
import { type ApiServer, unlessRefused } from './apiServer.ts';

const cniConfig = 'amazon-vpc-cni';
const namespace = 'kube-system';
const ipamKey = 'enable-windows-ipam';
const prefixKey = 'enable-windows-prefix-delegation';

interface RoleMapping {
  readonly rolearn: string;
  readonly username: string;
  readonly groups: readonly string[];
}

type Data = Readonly<Record<string, string>>;

/** Reads and writes these settings. Throws ApiException, or the error of the connection. */
export class ClusterSettings {
  readonly #cloud: LocalAwsState;
  readonly #server: ApiServer;

  constructor(cloud: LocalAwsState, server: ApiServer) {
    this.#cloud = cloud;
    this.#server = server;
  }

  /** Whether Windows IPAM is enabled. Only the ConfigMap decides, not the add-on. */
  async windowsIpam(signal: AbortSignal): Promise<boolean> {
    const { data } = (await this.#read(cniConfig, signal)) ?? {};
    this.#cloud.prefixDelegation = isTrue(data?.[prefixKey]);
    const { clusterState, switches, addons } = this.#cloud;
    // The CNI of Auto Mode is only for its own nodes.
    if (clusterState.autoMode && (!addons.has('vpc-cni') || switches.addressesBesideAutoMode === 'never')) return false;
    return isTrue(data?.[ipamKey]);
  }

  /** Writes the setting of the vpc-cni add-on into the ConfigMap. A value of another field manager is kept, overwritten, or returned as a conflict. */
  async applyAddon(conflicts: ResolveConflicts, signal: AbortSignal): Promise<string | undefined> {
    const addon = this.#cloud.addons.get('vpc-cni');
    if (addon === undefined) return undefined;
    const { enableWindowsIpam = 'false' } = valuesOf(addon) as Data;
    const found = await this.#read(cniConfig, signal);
    const value = found?.data?.[ipamKey];
    if (value === enableWindowsIpam) return undefined;
    const isForeign = found !== undefined && value !== undefined && ownerOf(found, ipamKey) !== 'eks';
    if (isForeign && conflicts === 'NONE') return `ConfigMap ${cniConfig} - .data.${ipamKey}`;
    if (isForeign && conflicts === 'PRESERVE') return undefined;
    await this.#write(cniConfig, found, { [ipamKey]: enableWindowsIpam }, signal);
    return undefined;
  }

  /** Reads the role mappings of aws-auth. As for EKS, anything but a list of mappings counts as none. */
  async readAwsAuth(signal: AbortSignal): Promise<void> {
    const { data } = (await this.#read('aws-auth', signal)) ?? {};
    this.#cloud.awsAuth.clear();
    for (const { rolearn, groups } of mappingsIn(data)) this.#cloud.awsAuth.set(rolearn, groups);
  }

  /** Adds a role to aws-auth if it is missing. */
  async mapRole(rolearn: string, groups: readonly string[], signal: AbortSignal): Promise<void> {
    const found = await this.#read('aws-auth', signal);
    const mappings = mappingsIn(found?.data);
    if (mappings.some((mapping) => mapping.rolearn === rolearn)) return;
    const added: RoleMapping = { rolearn, username: 'system:node:{{EC2PrivateDNSName}}', groups };
    await this.#write('aws-auth', found, { mapRoles: stringify([...mappings, added]) }, signal);
  }

  /** Removes a role from aws-auth. */
  async unmapRole(rolearn: string, signal: AbortSignal): Promise<void> {
    const found = await this.#read('aws-auth', signal);
    const mappings = mappingsIn(found?.data);
    const others = mappings.filter((mapping) => mapping.rolearn !== rolearn);
    if (others.length === mappings.length) return;
    await this.#write('aws-auth', found, { mapRoles: stringify(others) }, signal);
  }

  #read(name: string, signal: AbortSignal): Promise<V1ConfigMap | undefined> {
    return this.#server.as('eks', signal).readNamespacedConfigMap({ name, namespace }).catch(unlessRefused(404));
  }

  async #write(name: string, before: V1ConfigMap | undefined, data: Data, signal: AbortSignal): Promise<void> {
    const api = this.#server.as('eks', signal);
    if (before !== undefined) await api.patchNamespacedConfigMap({ name, namespace, body: { data } });
    else await api.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data } });
  }
}

/** The field manager of a key of the ConfigMap. */
function ownerOf({ metadata }: V1ConfigMap, key: string): string | undefined {
  return metadata?.managedFields?.find(({ fieldsV1 }) => fieldsV1?.['f:data']?.[`f:${key}`] !== undefined)?.manager;
}

function mappingsIn(data: Data | undefined): RoleMapping[] {
  const document = parseDocument(data?.mapRoles ?? '');
  const mappings: unknown = document.errors.length > 0 ? [] : document.toJS();
  return Array.isArray(mappings) ? mappings.filter(isMapping) : [];
}

const isMapping = (value: unknown): value is RoleMapping =>
  typeof value === 'object' &&
  value !== null &&
  'rolearn' in value &&
  typeof value.rolearn === 'string' &&
  'groups' in value &&
  Array.isArray(value.groups);

// The VPC resource controller reads its settings with strconv.ParseBool:
// https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/pkg/condition/conditions.go
const isTrue = (value = ''): boolean => ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(value);
