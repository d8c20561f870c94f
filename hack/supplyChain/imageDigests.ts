/** Pins the base images of the Dockerfile by digest. */
import { runCommand } from '../controlplane/command.ts';

const TIMEOUT_MS = 60_000;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Returns the text of a Dockerfile in which each image of another registry has its current digest, beside its tag. */
export async function withDigests(dockerfile: string, digestOf: (image: string) => Promise<string>): Promise<string> {
  const from = /^(FROM )([^\s@]+)(@\S+)?/gm;
  const images = [...new Set([...dockerfile.matchAll(from)].map(([, , image = '']) => image))];
  const digests = new Map(await Promise.all(images.map(async (image) => [image, await digestOf(image)] as const)));
  return dockerfile.replace(from, (_, word: string, image: string) => `${word}${image}@${digests.get(image)}`);
}

/** The digest that the registry serves now for a tag, of all its platforms. Throws if no registry answers. */
export async function publishedDigest(image: string, docker = 'docker'): Promise<string> {
  const args = ['buildx', 'imagetools', 'inspect', image, '--format', '{{.Manifest.Digest}}'];
  const { stdout, stderr, code } = await runCommand(docker, args, { timeoutMs: TIMEOUT_MS });
  const digest = stdout.trim();
  if (code !== 0 || !DIGEST.test(digest))
    throw new Error(
      `The digest of ${image} could not be read, so the Dockerfile was not changed: ${stderr.trim() || JSON.stringify(digest)}. Run make image-digests where docker buildx can reach the registry.`,
    );
  return digest;
}
