/** The launch templates that the operator creates, one for each pool that sets launch settings. */
import type { CallResult } from './callResult.ts';

/** What a launch template of the operator contains: the launch settings, which exclude the instance types and subnets. */
export interface LaunchSettings {
  /** A custom AMI, by ID. Absent: EKS selects one. */
  readonly imageId?: string;
  /** What the instances run at their first boot, as text. Absent: what EKS provides. */
  readonly userData?: string;
  readonly disk: Disk;
  readonly httpTokens: 'Required' | 'Optional';
  /** Network hops of a response of the instance metadata service. */
  readonly httpPutResponseHopLimit: number;
  /** All security groups, sorted by ID; empty: EKS uses the cluster security group. */
  readonly securityGroups: readonly string[];
  /** Of the instances and their volumes. */
  readonly instanceTags: Readonly<Record<string, string>>;
}

/** The root volume. */
export interface Disk {
  readonly sizeGiB: number;
  readonly type: string;
  /** Absent: the default of the volume type. */
  readonly iops?: number;
  /** In MiB/s. Absent: the default of the volume type. */
  readonly throughput?: number;
  /** False: the account decides. */
  readonly encrypted: boolean;
  /** Absent: the EBS key of the account. */
  readonly kmsKeyID?: string;
}

/** What a gp3 volume has without iops and throughput: https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html */
const GP3 = { iops: 3000, throughput: 125 } as const;

/** The disk without the defaults of its type, so that a disk that names them equals one that does not. */
export function withoutDefaults({ iops, throughput, ...disk }: Disk): Disk {
  const isGp3 = disk.type === 'gp3';
  return {
    ...disk,
    ...(iops !== undefined && !(isGp3 && iops === GP3.iops) && { iops }),
    ...(throughput !== undefined && !(isGp3 && throughput === GP3.throughput) && { throughput }),
  };
}

/** A version of a launch template. Versions never change. */
export interface OwnTemplateVersion {
  /** The version number. */
  readonly version: string;
  readonly launchSettings: LaunchSettings;
  /** Settings that the operator does not write, by their EC2 names: another client created the version. */
  readonly others: readonly string[];
  /** The description: for a version of the operator, the one that it was created with. */
  readonly description: string;
}

/** A launch template with its versions. */
export interface OwnTemplate {
  readonly id: string;
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  /** The version number of the default version, which EC2 does not delete. */
  readonly defaultVersion: string;
  /** Newest first. */
  readonly versions: readonly OwnTemplateVersion[];
}

/** EC2 launch templates of the operator. EC2 is eventually consistent: a read may not show what was just written. */
export interface OwnTemplates {
  /** The template of that name, also if it is not the operator's; undefined when it does not exist. */
  find(name: string, signal: AbortSignal): Promise<CallResult<OwnTemplate | undefined>>;
  /** Creates it with a first version. Idempotent for the same token; error `busy` if the name is taken. */
  create(
    template: Pick<OwnTemplate, 'name' | 'tags'> & Pick<OwnTemplateVersion, 'launchSettings' | 'description'>,
    token: string,
    signal: AbortSignal,
  ): Promise<CallResult<OwnTemplate>>;
  /** Adds a version. Idempotent for the same token. */
  addVersion(
    id: string,
    version: Pick<OwnTemplateVersion, 'launchSettings' | 'description'>,
    token: string,
    signal: AbortSignal,
  ): Promise<CallResult<OwnTemplateVersion>>;
  /** Succeeds for versions that do not exist. At most 200 at a time. */
  deleteVersions(id: string, versions: readonly string[], signal: AbortSignal): Promise<CallResult<void>>;
  /** Deletes the template with all versions. Succeeds for a template that does not exist. */
  delete(id: string, signal: AbortSignal): Promise<CallResult<void>>;
}
