/** The ports Addons and AccessEntries on EKS. */
import type { Addon as EksAddon } from '@aws-sdk/client-eks';
import { type CallResult, scrub } from '../windowspool/ports/callResult.ts';
import type { AccessEntries, Addon, Addons } from '../windowspool/ports/prerequisites.ts';
import { readValues, withValues } from './addonValues.ts';
import type { EksCall } from './calls.ts';
import { done, mapped, unlessAbsent } from './results.ts';

/** https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeAddon.html */
export function createAddons(clusterName: string, eks: EksCall): Addons {
  return {
    find: async (addonName, signal) => {
      const result = unlessAbsent(await eks('DescribeAddon', { clusterName, addonName }, signal));
      if (!result.ok) return result;
      return { ok: true, value: result.value && (await addonOf(result.value.addon ?? {})) };
    },
    /**
     * Reads the add-on first, to keep the user's latest values. PRESERVE keeps changes of others to the add-on's objects; NONE would fail the update,
     * and OVERWRITE would reset them. Sends the role again, because without one the add-on uses that of the node:
     * https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateAddon.html
     */
    configure: async (addonName, values, seen, clientRequestToken, signal) => {
      const name = { clusterName, addonName };
      const result = await eks('DescribeAddon', name, signal);
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
      return done(await eks('UpdateAddon', input, signal));
    },
  };
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
export function createAccessEntries(clusterName: string, eks: EksCall): AccessEntries {
  return {
    find: async (principalArn, signal) =>
      mapped(unlessAbsent(await eks('DescribeAccessEntry', { clusterName, principalArn }, signal)), (found) => {
        if (!found) return undefined;
        const { type = 'STANDARD', createdAt } = found.accessEntry ?? {};
        // The user guide also writes EC2_Windows.
        return { type: type.toUpperCase(), ...(createdAt && { createdAt: createdAt.getTime() }) };
      }),
    create: async (principalArn, tags, clientRequestToken, signal) => {
      const entry = { clusterName, principalArn, type: 'EC2_WINDOWS', clientRequestToken };
      const isTagged = Object.keys(tags).length > 0;
      return done(await eks('CreateAccessEntry', { ...entry, ...(isTagged && { tags: { ...tags } }) }, signal));
    },
  };
}
