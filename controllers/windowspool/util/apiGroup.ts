/** The API group of an apiVersion: `apps` of `apps/v1`. The core group has none. */
export function apiGroupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}
