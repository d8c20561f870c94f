/** Where the Debian packages of the image come from. Their hashes are pinned, so that any mirror will do. */
import { runOrThrow } from './run.ts';

const TIMEOUT_MS = 30_000;

/** The URL of a mirror, without `/debian`: that of DEBIAN_MIRROR, or that of the machine's own sources of apt. Throws if there is neither. */
export async function debianMirror(): Promise<string> {
  const { DEBIAN_MIRROR } = process.env;
  if (DEBIAN_MIRROR) return DEBIAN_MIRROR.replace(/\/+$/, '');
  const args = ['indextargets', '--format', '$(SITE)', 'Origin: Debian'];
  const sites = await runOrThrow('apt-get', args, TIMEOUT_MS).catch(() => '');
  const mirror = /^(https?:\S+)\/debian\/?$/m.exec(sites)?.[1];
  if (mirror === undefined)
    throw new Error(
      'The image needs packages of Debian, and the sources of apt have no mirror of Debian. Set DEBIAN_MIRROR to the URL of one, without /debian.',
    );
  return mirror;
}

/** The URL of an archive that keeps all versions, for packages that the mirror no longer has: DEBIAN_SNAPSHOT, if it is set. */
export function debianSnapshot(): string | undefined {
  return process.env.DEBIAN_SNAPSHOT?.replace(/\/+$/, '') || undefined;
}
