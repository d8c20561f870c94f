/** The ports Addons and AccessEntries on EKS. */
import type { Answer } from '../windowspool/ports/answer.ts';
import type { AccessEntries, AccessEntry, Addon, Addons } from '../windowspool/ports/prerequisites.ts';
import { ClusterCalls, isAbsent } from './clusterCalls.ts';

/** https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeAddon.html */
export class EksAddons extends ClusterCalls implements Addons {
  async find(addonName: string, signal: AbortSignal): Promise<Answer<Addon | undefined>> {
    const input = { clusterName: this.clusterName, addonName };
    const answer = await this.call('DescribeAddon', input, signal);
    if (!answer.ok) return isAbsent(answer.trouble) ? { ok: true, value: undefined } : answer;
    const { status = 'UNKNOWN', configurationValues = '' } = answer.value.addon ?? {};
    return { ok: true, value: { status, configuration: configurationValues } };
  }
}

/** https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeAccessEntry.html */
export class EksAccessEntries extends ClusterCalls implements AccessEntries {
  async find(principalArn: string, signal: AbortSignal): Promise<Answer<AccessEntry | undefined>> {
    const input = { clusterName: this.clusterName, principalArn };
    const answer = await this.call('DescribeAccessEntry', input, signal);
    if (!answer.ok) return isAbsent(answer.trouble) ? { ok: true, value: undefined } : answer;
    return { ok: true, value: { type: answer.value.accessEntry?.type ?? 'STANDARD' } };
  }

  async create(principalArn: string, token: string, signal: AbortSignal): Promise<Answer<void>> {
    const input = { clusterName: this.clusterName, principalArn, type: 'EC2_WINDOWS', clientRequestToken: token };
    const answer = await this.call('CreateAccessEntry', input, signal);
    return answer.ok ? { ok: true, value: undefined } : answer;
  }
}
