import { invalidRequest } from '../awsFault.ts';
import type { LocalAwsState } from '../state.ts';

/**
 * Runs `run` once for each clientRequestToken: the same request again returns the first response, another request with a used token is
 * rejected. Without a token it just runs. A failed request does not use up its token.
 */
export function once<T>(
  cloud: LocalAwsState,
  request: { readonly clientRequestToken?: string | undefined },
  scope: { readonly operation: string; readonly group: string },
  run: () => T,
): T {
  const { clientRequestToken: token, ...payload } = request;
  if (token === undefined) return run();
  const key = `${scope.operation}/${token}`;
  const text = stableJson(payload);
  const used = cloud.tokens.get(key);
  if (used !== undefined) {
    // EKS' message is not known; the meaning is that of every AWS service.
    if (used.request !== text)
      throw invalidRequest(`Client request token ${token} was used with other parameters before`);
    return structuredClone(used.answer) as T;
  }
  const answer = run();
  cloud.tokens.set(key, { group: scope.group, request: text, answer: structuredClone(answer) });
  return answer;
}

/** Forgets the tokens of a deleted group, depending on the switch. */
export function forgetTokens(cloud: LocalAwsState, group: string): void {
  if (cloud.switches.tokensAfterDelete === 'remembered') return;
  for (const [key, { group: owner }] of cloud.tokens) if (owner === group) cloud.tokens.delete(key);
}

const stableJson = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
