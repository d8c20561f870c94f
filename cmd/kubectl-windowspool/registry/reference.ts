/** Names of images, as a registry wants them. Pure. */
import { normalizedImage } from '../../../controllers/windowspool/nodes/imageNames.ts';
import { LONGEST_IMAGE } from '../../../controllers/workloads/images.ts';

/** An image of a registry. */
export interface ImageReference {
  /** As in the name of the image and in files with credentials: `docker.io`, `registry.example.com:5000`. */
  readonly registry: string;
  /** `library/nginx`. */
  readonly repository: string;
  /** A tag or a digest. */
  readonly reference: string;
}

/** The grammar of https://pkg.go.dev/github.com/distribution/reference, with the digests that registries must support. */
const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;
const REPOSITORY = /^[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
export const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** The parts of the name of an image, with the defaults of Docker: `nginx` is `docker.io/library/nginx:latest`. undefined: it is not valid. */
export function parseImage(image: string): ImageReference | undefined {
  if (image.length > LONGEST_IMAGE) return undefined;
  const full = normalizedImage(image);
  const slash = full.indexOf('/');
  const registry = full.slice(0, slash);
  const [, repository = '', tag, digest] = /^([^:@]+)(?::([^@]+)|@(.+))$/.exec(full.slice(slash + 1)) ?? [];
  const reference = digest ?? tag ?? '';
  if (!HOST.test(registry) || !REPOSITORY.test(repository)) return undefined;
  return (digest === undefined ? TAG : DIGEST).test(reference) ? { registry, repository, reference } : undefined;
}

/** The address of a registry. That of Docker Hub is not in the names of its images. */
export function urlOf(registry: string, isInsecure: boolean): URL {
  const url = new URL(`https://${registry === 'docker.io' ? 'registry-1.docker.io' : registry}/`);
  if (isInsecure || isLoopback(url)) url.protocol = 'http:';
  return url;
}

/** Whether the host of the URL is this machine, where registries of developers have no certificate. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
