/*
 * The ConfigMaps of kube-system that decide over Windows nodes: amazon-vpc-cni (does the VPC resource controller give
 * them pod addresses?) and aws-auth (which roles may join?). Names and keys: the user guide of EKS.
 */
import { parseDocument, stringify } from 'yaml';
import { valuesOf } from '../eks/addons.ts';
import type { ConflictMode, LocalAwsState } from '../state.ts';
import type { KubeClient, KubeRequest } from './kubeClient.ts';
import { expectOk } from './nodeStepError.ts';

const cniConfig = 'amazon-vpc-cni';
const folder = '/api/v1/namespaces/kube-system/configmaps';
const ipamKey = 'enable-windows-ipam';
const prefixKey = 'enable-windows-prefix-delegation';

interface RoleMapping {
  readonly rolearn: string;
  readonly username: string;
  readonly groups: readonly string[];
}

type Data = Readonly<Record<string, string>>;

interface ConfigMap {
  readonly data: Data;
  readonly metadata?: { readonly managedFields?: readonly ManagedFields[] };
}

interface ManagedFields {
  readonly manager?: string;
  readonly fieldsV1?: { readonly 'f:data'?: Readonly<Record<string, unknown>> };
}

/** Reads and writes these settings. Throws NodeStepError, or what the connection threw. */
export class ClusterSettings {
  readonly #cloud: LocalAwsState;
  readonly #kube: KubeClient;

  constructor(cloud: LocalAwsState, kube: KubeClient) {
    this.#cloud = cloud;
    this.#kube = kube;
  }

  /** Is Windows IPAM on? The ConfigMap alone decides, whatever an add-on says. */
  async windowsIpam(signal: AbortSignal): Promise<boolean> {
    if (this.#cloud.switches.addonDrift === 'putBack') await this.applyAddon('OVERWRITE', signal);
    const { data } = (await this.#read(cniConfig, signal)) ?? {};
    this.#cloud.prefixDelegation = isTrue(data?.[prefixKey]);
    const { clusterState, switches, addons } = this.#cloud;
    // Auto Mode brings a CNI for its own nodes alone.
    if (clusterState.autoMode && (!addons.has('vpc-cni') || switches.addressesBesideAutoMode === 'never')) return false;
    return isTrue(data?.[ipamKey]);
  }

  /** Writes what the vpc-cni add-on says into the ConfigMap. A value that somebody else wrote is kept, lost, or in the way: then it is named. */
  async applyAddon(conflicts: ConflictMode, signal: AbortSignal): Promise<string | undefined> {
    const addon = this.#cloud.addons.get('vpc-cni');
    if (addon === undefined) return undefined;
    const { enableWindowsIpam = 'false' } = valuesOf(addon) as Data;
    const found = await this.#read(cniConfig, signal);
    const value = found?.data[ipamKey];
    if (value === enableWindowsIpam) return undefined;
    const isForeign = found !== undefined && value !== undefined && ownerOf(found, ipamKey) !== 'eks';
    if (isForeign && conflicts === 'NONE') return `ConfigMap ${cniConfig} - .data.${ipamKey}`;
    if (isForeign && conflicts === 'PRESERVE') return undefined;
    await this.#write(cniConfig, found, { [ipamKey]: enableWindowsIpam }, signal);
    return undefined;
  }

  /** Takes over what aws-auth says of roles. What is no list of mappings counts as nothing, as for EKS. */
  async readAwsAuth(signal: AbortSignal): Promise<void> {
    const { data } = (await this.#read('aws-auth', signal)) ?? {};
    this.#cloud.awsAuth.clear();
    for (const { rolearn, groups } of mappingsIn(data)) this.#cloud.awsAuth.set(rolearn, groups);
  }

  /** Adds a role to aws-auth, if it is not there. */
  async mapRole(rolearn: string, groups: readonly string[], signal: AbortSignal): Promise<void> {
    const found = await this.#read('aws-auth', signal);
    const mappings = mappingsIn(found?.data);
    if (mappings.some((mapping) => mapping.rolearn === rolearn)) return;
    const added: RoleMapping = { rolearn, username: 'system:node:{{EC2PrivateDNSName}}', groups };
    await this.#write('aws-auth', found, { mapRoles: stringify([...mappings, added]) }, signal);
  }

  async #read(name: string, signal: AbortSignal): Promise<ConfigMap | undefined> {
    const answer = await this.#kube.send({ method: 'GET', path: `${folder}/${name}`, agent: 'eks' }, signal);
    if (answer.status === 404) return undefined;
    expectOk(`read ConfigMap ${name}`, answer);
    return { data: {}, ...(answer.body as Partial<ConfigMap>) };
  }

  async #write(name: string, before: ConfigMap | undefined, data: Data, signal: AbortSignal): Promise<void> {
    const metadata = { name, namespace: 'kube-system' };
    const request: KubeRequest =
      before === undefined
        ? { method: 'POST', path: folder, agent: 'eks', body: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } }
        : { method: 'PATCH', path: `${folder}/${name}`, agent: 'eks', patch: 'merge-patch', body: { data } };
    expectOk(`write ConfigMap ${name}`, await this.#kube.send(request, signal));
  }
}

/** Who wrote a key of the ConfigMap last. */
function ownerOf({ metadata }: ConfigMap, key: string): string | undefined {
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
