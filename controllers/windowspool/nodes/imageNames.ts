/** Names of container images. Pure. */

/**
 * The name under which containerd, and so the kubelet in `status.images`, lists an image: with its registry, and a tag or a digest. `nginx` is
 * `docker.io/library/nginx:latest`. Of a tag and a digest, the digest remains:
 * https://github.com/distribution/reference/blob/main/normalize.go
 */
export function normalizedImage(reference: string): string {
  const [name = '', digest] = reference.split('@');
  const slash = name.indexOf('/');
  const host = slash < 0 ? '' : name.slice(0, slash);
  const isHost = host === 'localhost' || /[.:]/.test(host);
  const withHost = isHost ? name : `docker.io/${name}`;
  const [, path] = /^(?:index[.])?docker[.]io[/](.*)$/.exec(withHost) ?? [];
  const full = path === undefined ? withHost : `docker.io/${path.includes('/') ? '' : 'library/'}${path}`;
  const colon = full.indexOf(':', full.lastIndexOf('/'));
  if (digest !== undefined) return `${colon < 0 ? full : full.slice(0, colon)}@${digest}`;
  return colon < 0 ? `${full}:latest` : full;
}
