/** The ports Addons and AccessEntries on EKS. */
import type { Answer, Trouble } from '../windowspool/ports.ts';
import type { AccessEntries, AccessEntry, Addon, Addons } from '../windowspool/prerequisites/ports.ts';
import type { EksCall, Lane } from './calls.ts';

/** https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeAddon.html */
export class EksAddons implements Addons {
  readonly #clusterName: string;
  readonly #eks: EksCall;
  readonly #lane: Lane;

  constructor(clusterName: string, eks: EksCall, lane: Lane) {
    this.#clusterName = clusterName;
    this.#eks = eks;
    this.#lane = lane;
  }

  async find(addonName: string, signal: AbortSignal): Promise<Answer<Addon | undefined>> {
    const input = { clusterName: this.#clusterName, addonName };
    const call = (bounded: AbortSignal) => this.#eks('DescribeAddon', input, bounded);
    const answer = await this.#lane.run('eks', 'DescribeAddon', call, signal);
    if (!answer.ok) return isAbsent(answer.trouble) ? { ok: true, value: undefined } : answer;
    const { status = 'UNKNOWN', configurationValues = '' } = answer.value.addon ?? {};
    return { ok: true, value: { status, configuration: configurationValues } };
  }
}

/** https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeAccessEntry.html */
export class EksAccessEntries implements AccessEntries {
  readonly #clusterName: string;
  readonly #eks: EksCall;
  readonly #lane: Lane;

  constructor(clusterName: string, eks: EksCall, lane: Lane) {
    this.#clusterName = clusterName;
    this.#eks = eks;
    this.#lane = lane;
  }

  async find(principalArn: string, signal: AbortSignal): Promise<Answer<AccessEntry | undefined>> {
    const input = { clusterName: this.#clusterName, principalArn };
    const call = (bounded: AbortSignal) => this.#eks('DescribeAccessEntry', input, bounded);
    const answer = await this.#lane.run('eks', 'DescribeAccessEntry', call, signal);
    if (!answer.ok) return isAbsent(answer.trouble) ? { ok: true, value: undefined } : answer;
    return { ok: true, value: { type: answer.value.accessEntry?.type ?? 'STANDARD' } };
  }

  async create(principalArn: string, token: string, signal: AbortSignal): Promise<Answer<void>> {
    const input = { clusterName: this.#clusterName, principalArn, type: 'EC2_WINDOWS', clientRequestToken: token };
    const call = (bounded: AbortSignal) => this.#eks('CreateAccessEntry', input, bounded);
    const answer = await this.#lane.run('eks', 'CreateAccessEntry', call, signal);
    return answer.ok ? { ok: true, value: undefined } : answer;
  }
}

/** EKS answers ResourceNotFound for a cluster that is gone, too; its words tell which. */
function isAbsent({ kind, message }: Trouble): boolean {
  return kind === 'gone' && !/^No cluster found/i.test(message);
}
