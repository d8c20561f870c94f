/** The ports Addons and AccessEntries on EKS. */
import type { Addon as EksAddon } from '@aws-sdk/client-eks';
import { type CallResult, scrub } from '../windowspool/ports/callResult.ts';
import type { AccessEntries, AccessEntry, Addon, Addons } from '../windowspool/ports/prerequisites.ts';
import { readValues, withValues } from './addonValues.ts';
import { ClusterCalls, isAbsent } from './clusterCalls.ts';

/** https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeAddon.html */
export class EksAddons extends ClusterCalls implements Addons {
  async find(addonName: string, signal: AbortSignal): Promise<CallResult<Addon | undefined>> {
    const input = { clusterName: this.clusterName, addonName };
    const result = await this.call('DescribeAddon', input, signal);
    if (!result.ok) return isAbsent(result.error) ? { ok: true, value: undefined } : result;
    return { ok: true, value: await addonOf(result.value.addon ?? {}) };
  }

  /**
   * Reads the add-on first, to keep the user's latest values. PRESERVE keeps changes of others to the add-on's objects; NONE would fail the update,
   * and OVERWRITE would reset them. Sends the role again, because without one the add-on uses that of the node:
   * https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateAddon.html
   */
  async configure(
    addonName: string,
    values: Readonly<Record<string, string>>,
    seen: Addon,
    clientRequestToken: string,
    signal: AbortSignal,
  ): Promise<CallResult<void>> {
    const name = { clusterName: this.clusterName, addonName };
    const result = await this.call('DescribeAddon', name, signal);
    if (!result.ok) return result;
    const { addon = {} } = result.value;
    if (addon.status !== seen.status || modifiedAt(addon) !== seen.modifiedAt)
      return refusal('conflict', 'Conflict', `Add-on ${addonName} changed since it was read`);
    const configurationValues = await withValues(addon.configurationValues ?? '', values);
    if (configurationValues === undefined)
      return refusal(
        'refused',
        'Malformed',
        `The configuration values of add-on ${addonName} are neither JSON nor YAML`,
      );
    const { serviceAccountRoleArn } = addon;
    const input = {
      ...name,
      configurationValues,
      resolveConflicts: 'PRESERVE' as const,
      clientRequestToken,
      ...(serviceAccountRoleArn && { serviceAccountRoleArn }),
    };
    const updated = await this.call('UpdateAddon', input, signal);
    return updated.ok ? { ok: true, value: undefined } : updated;
  }
}

async function addonOf(addon: EksAddon): Promise<Addon> {
  const { status = 'UNKNOWN', configurationValues = '', health } = addon;
  const values = await readValues(configurationValues);
  return {
    status,
    // A string in the add-on's schema.
    windowsIpam: values && String(values.enableWindowsIpam) === 'true',
    issues: (health?.issues ?? []).map(({ code = 'Unknown', message = '' }) => `${code}: ${scrub(message)}`),
    modifiedAt: modifiedAt(addon),
  };
}

function modifiedAt({ modifiedAt: at }: EksAddon): number {
  return at?.getTime() ?? 0;
}

function refusal(kind: 'conflict' | 'refused', code: string, message: string): CallResult<never> {
  return { ok: false, error: { kind, operation: 'UpdateAddon', code, message } };
}

/** https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeAccessEntry.html */
export class EksAccessEntries extends ClusterCalls implements AccessEntries {
  async find(principalArn: string, signal: AbortSignal): Promise<CallResult<AccessEntry | undefined>> {
    const input = { clusterName: this.clusterName, principalArn };
    const result = await this.call('DescribeAccessEntry', input, signal);
    if (!result.ok) return isAbsent(result.error) ? { ok: true, value: undefined } : result;
    return { ok: true, value: { type: result.value.accessEntry?.type ?? 'STANDARD' } };
  }

  async create(principalArn: string, token: string, signal: AbortSignal): Promise<CallResult<void>> {
    const input = { clusterName: this.clusterName, principalArn, type: 'EC2_WINDOWS', clientRequestToken: token };
    const result = await this.call('CreateAccessEntry', input, signal);
    return result.ok ? { ok: true, value: undefined } : result;
  }
}
