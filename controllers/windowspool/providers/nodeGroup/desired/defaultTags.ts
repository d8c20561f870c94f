/** The AWS tags of all pools, which a flag of the operator sets. Pure. */
import type { WindowsPool } from '../../../api/api.gen.ts';
import { hasLaunchSettings } from '../launchTemplate/launchSettings.ts';

type Tags = Readonly<Record<string, string>>;

/**
 * The pool with these tags in its spec, where it has no tag with the same key: of its node group, and of the instances if the operator has a launch
 * template for it: tags alone are no reason to create one.
 */
export function withDefaultTags(defaults: Tags): (pool: WindowsPool) => WindowsPool {
  if (Object.keys(defaults).length === 0) return (pool) => pool;
  return (pool) => {
    const { nodeGroup } = pool.spec;
    if (!nodeGroup) return pool;
    const tags = { ...defaults, ...nodeGroup.tags };
    const instanceTags = hasLaunchSettings(pool.spec) && { instanceTags: { ...defaults, ...nodeGroup.instanceTags } };
    return { ...pool, spec: { ...pool.spec, nodeGroup: { ...nodeGroup, tags, ...instanceTags } } };
  };
}
