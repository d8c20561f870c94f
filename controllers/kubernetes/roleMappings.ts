/**
 * The reader of aws-auth, a module of its own that is loaded when there is such a text. It imports its package statically: in the bundle a
 * dynamic import of a CommonJS package, which yaml is, has no named exports.
 */
import { parse } from 'yaml';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type { RoleMapping } from '../windowspool/ports/prerequisites.ts';

/**
 * The mappings in `mapRoles` of the ConfigMap kube-system/aws-auth. It is YAML in a text that people write: where it is malformed, EKS maps
 * no role, and the answer names the line.
 */
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
