/** Whose a token is, and what its owner may do: the API server's TokenReview and SubjectAccessReview. */
import type { KubernetesClient } from './client.ts';

/** A user as the API server knows it. */
export interface User {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Questions to the API server. They throw KubernetesError when it does not answer, or the signal's reason. */
export interface Reviews {
  /** Whose token it is; undefined when the API server does not accept it. */
  userOf(token: string, signal: AbortSignal): Promise<User | undefined>;
  /** Whether the user may do this with a path that is no resource, such as /metrics. */
  mayUse(user: User, verb: string, path: string, signal: AbortSignal): Promise<boolean>;
}

interface TokenReview {
  readonly status?: { readonly authenticated?: boolean; readonly user?: User; readonly error?: string };
}

interface SubjectAccessReview {
  readonly status?: { readonly allowed?: boolean; readonly denied?: boolean };
}

/** @param timeoutMs how long the API server may take for one question */
export function createReviews(client: KubernetesClient, timeoutMs: number): Reviews {
  const ask = <T>(group: 'authentication' | 'authorization', kind: string, spec: object, signal: AbortSignal) => {
    const apiVersion = `${group}.k8s.io/v1`;
    const path = `/apis/${apiVersion}/${kind.toLowerCase()}s`;
    return client.request<T>('POST', path, { body: { apiVersion, kind, spec }, signal, timeoutMs });
  };
  return {
    userOf: async (token, signal) => {
      const { status } = await ask<TokenReview>('authentication', 'TokenReview', { token }, signal);
      return status?.authenticated === true ? status.user : undefined;
    },
    mayUse: async ({ username, uid, groups, extra }, verb, path, signal) => {
      const spec = { user: username, uid, groups, extra, nonResourceAttributes: { verb, path } };
      const { status } = await ask<SubjectAccessReview>('authorization', 'SubjectAccessReview', spec, signal);
      return status?.allowed === true && status.denied !== true;
    },
  };
}
