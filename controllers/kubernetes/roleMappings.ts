/**
 * Reads aws-auth. A separate module, so that it can be loaded lazily: in the bundle, a dynamic import of a CommonJS package such as yaml has no
 * named exports.
 */
import { parse } from 'yaml';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type { RoleMapping } from '../windowspool/ports/prerequisites.ts';

/** Parses `mapRoles` of the ConfigMap kube-system/aws-auth. If it is malformed, EKS maps no role, and the error names the line. */
export function parseRoleMappings(text: string): CallResult<RoleMapping[]> {
  let roles: unknown;
  try {
    roles = parse(text);
  } catch (error) {
    const [message = ''] = (error as Error).message.split('\n');
    const operation = 'reading mapRoles of ConfigMap kube-system/aws-auth';
    return { ok: false, error: { kind: 'refused', operation, code: 'Malformed', message } };
  }
  const mappings = Array.isArray(roles) ? roles : [];
  return {
    ok: true,
    value: mappings.map((role: { rolearn?: unknown; groups?: unknown } | null) => ({
      roleArn: String(role?.rolearn ?? ''),
      groups: Array.isArray(role?.groups) ? role.groups.map(String) : [],
    })),
  };
}
