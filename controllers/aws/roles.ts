/** The port Roles on IAM: https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetRole.html */
import type { Roles } from '../windowspool/ports/prerequisites.ts';
import type { IamCall } from './calls.ts';
import { readPages } from './pages.ts';
import { mapped, unlessGone } from './results.ts';

/** A role has at most 20 policies (quota "Managed policies attached to an IAM role"), a page at most 100. */
const MOST_PAGES = 3;

export function createRoles(iam: IamCall): Roles {
  return {
    createdAt: async (RoleName, signal) =>
      mapped(unlessGone(await iam('GetRole', { RoleName }, signal)), (found) => found?.Role?.CreateDate?.getTime()),
    policiesOf: async (roleName, signal) => {
      const read = (Marker: string | undefined) =>
        iam('ListAttachedRolePolicies', { RoleName: roleName, ...(Marker && { Marker }) }, signal);
      const pages = await readPages('ListAttachedRolePolicies', MOST_PAGES, read, ({ IsTruncated, Marker }) =>
        IsTruncated ? Marker : undefined,
      );
      return mapped(pages, (all) =>
        all.flatMap(({ AttachedPolicies = [] }) => AttachedPolicies).flatMap(({ PolicyName }) => PolicyName || []),
      );
    },
  };
}
