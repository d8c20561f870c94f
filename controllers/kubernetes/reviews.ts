/** Authenticates tokens and authorizes users, by the API server's TokenReview and SubjectAccessReview. */
import type { V1SubjectAccessReview, V1TokenReview, V1UserInfo } from '@kubernetes/client-node';
import type { KubernetesClient } from './client.ts';
import type { Wire } from './objects.ts';
import { apiPath } from './paths.ts';

/** A user as the API server authenticates it. */
export type User = Wire<V1UserInfo>;

/** Throws KubernetesError if the API server cannot be asked, or the signal's reason. */
export interface Reviews {
  /** The user of a token; undefined if the API server rejects the token. */
  userOf(token: string, signal: AbortSignal): Promise<User | undefined>;
  /** Whether the user may access a non-resource URL such as /metrics. */
  mayUse(user: User, verb: string, path: string, signal: AbortSignal): Promise<boolean>;
}

/** @param timeoutMs for one review */
export function createReviews(client: KubernetesClient, timeoutMs: number): Reviews {
  const ask = <T>(group: 'authentication' | 'authorization', kind: string, spec: object, signal: AbortSignal) => {
    const apiVersion = `${group}.k8s.io/v1`;
    const path = apiPath(apiVersion, `${kind.toLowerCase()}s`);
    return client.request<T>('POST', path, { body: { apiVersion, kind, spec }, signal, timeoutMs, unfenced: true });
  };
  return {
    userOf: async (token, signal) => {
      const { status } = await ask<V1TokenReview>('authentication', 'TokenReview', { token }, signal);
      return status?.authenticated === true ? status.user : undefined;
    },
    mayUse: async ({ username, uid, groups, extra }, verb, path, signal) => {
      const spec = { user: username, uid, groups, extra, nonResourceAttributes: { verb, path } };
      const { status } = await ask<V1SubjectAccessReview>('authorization', 'SubjectAccessReview', spec, signal);
      return status?.allowed === true && status.denied !== true;
    },
  };
}
