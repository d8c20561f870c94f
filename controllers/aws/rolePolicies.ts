/** The port RolePolicies on IAM: https://docs.aws.amazon.com/IAM/latest/APIReference/API_ListAttachedRolePolicies.html */
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type { RolePolicies } from '../windowspool/ports/prerequisites.ts';
import type { IamCall } from './calls.ts';
import { readPages } from './pages.ts';
import type { AwsRateLimiter } from './rateLimiter.ts';

/** A role has at most 20 policies (quota "Managed policies attached to an IAM role"), a page at most 100. */
const MOST_PAGES = 3;

export class IamRolePolicies implements RolePolicies {
  readonly #iam: IamCall;
  readonly #limiter: AwsRateLimiter;

  constructor(iam: IamCall, limiter: AwsRateLimiter) {
    this.#iam = iam;
    this.#limiter = limiter;
  }

  async attachedTo(roleName: string, signal: AbortSignal): Promise<CallResult<readonly string[]>> {
    const read = (Marker: string | undefined) => {
      const input = { RoleName: roleName, ...(Marker && { Marker }) };
      const call = (bounded: AbortSignal) => this.#iam('ListAttachedRolePolicies', input, bounded);
      return this.#limiter.run('iam', 'ListAttachedRolePolicies', call, signal);
    };
    const pages = await readPages('ListAttachedRolePolicies', MOST_PAGES, read, ({ IsTruncated, Marker }) =>
      IsTruncated ? Marker : undefined,
    );
    if (!pages.ok) return pages;
    const policies = pages.value.flatMap(({ AttachedPolicies = [] }) => AttachedPolicies);
    return { ok: true, value: policies.flatMap(({ PolicyName }) => (PolicyName ? [PolicyName] : [])) };
  }
}
