/** The krew manifest of a release: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/ */
import { parseDocument } from 'yaml';

/** An archive that a release publishes. */
export interface PluginArchive {
  /** Such as `v1.2.3`, which krew requires. */
  readonly version: string;
  /** An HTTPS URL. */
  readonly uri: string;
  /** In hexadecimal digits. */
  readonly sha256: string;
}

/** The template with the version, URL and digest of the archive, for each platform. Throws if the URL is not one of HTTPS. */
export function krewManifest(template: string, { version, uri, sha256 }: PluginArchive): string {
  if (URL.parse(uri)?.protocol !== 'https:') throw new Error(`ARCHIVE_URL=${uri}: must be an HTTPS URL.`);
  // Without its comment, which is about the template.
  const document = parseDocument(template.replace(/^(?:#.*\n)+/, ''));
  document.setIn(['spec', 'version'], version);
  const platforms = (document.toJS() as { spec: { platforms: readonly unknown[] } }).spec.platforms;
  for (const index of platforms.keys()) {
    document.setIn(['spec', 'platforms', index, 'uri'], uri);
    document.setIn(['spec', 'platforms', index, 'sha256'], sha256);
  }
  return document.toString();
}
