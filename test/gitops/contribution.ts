/** The folder of Argo CD's repository that would contain the health check of pools. */
export const CONTRIBUTION = 'config/argocd/resource_customizations/winpool.dev/WindowsPool';

/** The recordings that it tests. */
export const CONTRIBUTED_POOLS = [
  'all-nodes-bad',
  'create-failed',
  'creating',
  'one-bad-node',
  'paused',
  'ready',
  'unseen',
  'updating',
] as const;
