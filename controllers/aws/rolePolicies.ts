/** The port RolePolicies on IAM: https://docs.aws.amazon.com/IAM/latest/APIReference/API_ListAttachedRolePolicies.html */
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type { RolePolicies } from '../windowspool/ports/prerequisites.ts';
import type { IamCall } from './calls.ts';
import { tooManyPages } from './pages.ts';
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
    const names: string[] = [];
    let Marker: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const input = { RoleName: roleName, ...(Marker && { Marker }) };
      const call = (bounded: AbortSignal) => this.#iam('ListAttachedRolePolicies', input, bounded);
      const result = await this.#limiter.run('iam', 'ListAttachedRolePolicies', call, signal);
      if (!result.ok) return result;
      const { AttachedPolicies = [], IsTruncated } = result.value;
      names.push(...AttachedPolicies.flatMap(({ PolicyName }) => (PolicyName ? [PolicyName] : [])));
      Marker = IsTruncated ? result.value.Marker : undefined;
      if (!Marker) return { ok: true, value: names };
    }
    return { ok: false, error: tooManyPages('ListAttachedRolePolicies', MOST_PAGES) };
  }
}
