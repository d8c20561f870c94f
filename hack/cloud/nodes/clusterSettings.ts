/*
 * The ConfigMaps of kube-system that decide over Windows nodes: amazon-vpc-cni (does the VPC resource controller give
 * them pod addresses?) and aws-auth (which roles may join?). Names and keys: the user guide of EKS.
 */
import { parseDocument, stringify } from 'yaml';
import type { CloudState } from '../state.ts';
import type { KubeClient, KubeRequest } from './kubeClient.ts';
import { expectOk } from './nodeStepError.ts';

const folder = '/api/v1/namespaces/kube-system/configmaps';
const ipamKey = 'enable-windows-ipam';
const prefixKey = 'enable-windows-prefix-delegation';

interface RoleMapping {
  readonly rolearn: string;
  readonly username: string;
  readonly groups: readonly string[];
}

type Data = Readonly<Record<string, string>>;

/** Reads and writes these settings. Throws NodeStepError, or what the connection threw. */
export class ClusterSettings {
  readonly #cloud: CloudState;
  readonly #kube: KubeClient;

  constructor(cloud: CloudState, kube: KubeClient) {
    this.#cloud = cloud;
    this.#kube = kube;
  }

  /** Is Windows IPAM on? Where the vpc-cni add-on owns the setting, the ConfigMap follows it first: what others wrote is lost. */
  async windowsIpam(signal: AbortSignal): Promise<boolean> {
    const data = await this.#read('amazon-vpc-cni', signal);
    this.#cloud.prefixDelegation = data?.[prefixKey] === 'true';
    const addon = this.#cloud.addons.get('vpc-cni');
    const { clusterState, switches } = this.#cloud;
    // Auto Mode brings a CNI for its own nodes alone.
    if (clusterState.autoMode && (addon === undefined || switches.addressesBesideAutoMode === 'never')) return false;
    if (addon === undefined) return data?.[ipamKey] === 'true';
    const { enableWindowsIpam = 'false' } = JSON.parse(addon.configurationValues ?? '{}') as Data;
    if (data?.[ipamKey] !== enableWindowsIpam) {
      await this.#write('amazon-vpc-cni', data, { [ipamKey]: enableWindowsIpam }, signal);
    }
    return enableWindowsIpam === 'true';
  }

  /** Takes over what aws-auth says of roles. What is no list of mappings counts as nothing, as for EKS. */
  async readAwsAuth(signal: AbortSignal): Promise<void> {
    const data = await this.#read('aws-auth', signal);
    this.#cloud.awsAuth.clear();
    for (const { rolearn, groups } of mappingsIn(data)) this.#cloud.awsAuth.set(rolearn, groups);
  }

  /** Adds a role to aws-auth, if it is not there. */
  async mapRole(rolearn: string, groups: readonly string[], signal: AbortSignal): Promise<void> {
    const data = await this.#read('aws-auth', signal);
    const mappings = mappingsIn(data);
    if (mappings.some((mapping) => mapping.rolearn === rolearn)) return;
    const added: RoleMapping = { rolearn, username: 'system:node:{{EC2PrivateDNSName}}', groups };
    await this.#write('aws-auth', data, { mapRoles: stringify([...mappings, added]) }, signal);
  }

  async #read(name: string, signal: AbortSignal): Promise<Data | undefined> {
    const answer = await this.#kube.send({ method: 'GET', path: `${folder}/${name}`, agent: 'eks' }, signal);
    if (answer.status === 404) return undefined;
    expectOk(`read ConfigMap ${name}`, answer);
    return (answer.body as { data?: Data }).data ?? {};
  }

  async #write(name: string, before: Data | undefined, data: Data, signal: AbortSignal): Promise<void> {
    const metadata = { name, namespace: 'kube-system' };
    const request: KubeRequest =
      before === undefined
        ? { method: 'POST', path: folder, agent: 'eks', body: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } }
        : { method: 'PATCH', path: `${folder}/${name}`, agent: 'eks', patch: 'merge-patch', body: { data } };
    expectOk(`write ConfigMap ${name}`, await this.#kube.send(request, signal));
  }
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
