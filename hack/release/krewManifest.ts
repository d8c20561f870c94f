/** The krew manifest of a release: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/ */
import { parseDocument } from 'yaml';

/** An archive of the plugin for one platform. */
export interface PluginArchive {
  readonly os: string;
  readonly arch: string;
  /** An HTTPS URL. */
  readonly uri: string;
  /** In hexadecimal digits. */
  readonly sha256: string;
  /** The name of the program in the archive. */
  readonly bin: string;
}

const LICENCES = ['LICENSE', 'NODE_LICENSE', 'THIRD_PARTY_NOTICES'];

/** The template with the version, such as `1.2.3`, and a platform for each archive. Throws if a URL is not one of HTTPS. */
export function krewManifest(template: string, version: string, archives: readonly PluginArchive[]): string {
  // Without its comment, which is about the template.
  const document = parseDocument(template.replace(/^(?:#.*\n)+/, ''));
  document.setIn(['spec', 'version'], `v${version}`);
  const platforms = archives.map(({ os, arch, uri, sha256, bin }) => {
    if (URL.parse(uri)?.protocol !== 'https:')
      throw new Error(`${uri}: krew downloads only from HTTPS URLs. Set DOWNLOADS.`);
    const files = [bin, ...LICENCES].map((from) => ({ from, to: '.' }));
    return { selector: { matchLabels: { os, arch } }, uri, sha256, files, bin };
  });
  document.setIn(['spec', 'platforms'], document.createNode(platforms));
  return document.toString();
}
