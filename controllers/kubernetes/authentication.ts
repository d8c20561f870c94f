/** How requests to an API server are authenticated. */

/** An API server's address, and how to authenticate to it. */
export interface Credentials {
  /** Without a trailing slash. */
  readonly server: string;
  readonly proxyUrl: string | undefined;
  /** The namespace of the kubeconfig's context or of the pod. */
  readonly namespace: string | undefined;
  /** Called before each request, so that rotated credentials are picked up. Rejects if there are none. */
  authenticate(): Promise<Authentication>;
}

export interface Authentication {
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly tls: TlsOptions;
}

export interface TlsOptions {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}
