/** The same bill of materials in SPDX: https://spdx.github.io/spdx-spec/v2.3/ */
import type { Component, Sbom } from './sbom.ts';

const PURPOSES = {
  application: 'APPLICATION',
  container: 'CONTAINER',
  library: 'LIBRARY',
  'operating-system': 'OPERATING-SYSTEM',
};

/** Of a document: its URI, which no other document has, and when it was made, in RFC 3339. */
export interface SpdxDocument {
  readonly namespace: string;
  readonly created: string;
}

/** The same packages, dependencies, licences and hashes as in the CycloneDX document. */
export function spdxOf({ metadata, components, dependencies }: Sbom, { namespace, created }: SpdxDocument): object {
  const { component: described } = metadata;
  const packages = [described, ...components].map(packageOf);
  const edges = dependencies.flatMap(({ ref, dependsOn }) => dependsOn.map((to) => [ref, to] as const));
  const relation = (from: string, relationshipType: string, to: string) => ({
    spdxElementId: from,
    relationshipType,
    relatedSpdxElement: to,
  });
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: refOf(described),
    documentNamespace: namespace,
    creationInfo: { created, creators: [`Tool: ${refOf(described)}`] },
    packages,
    relationships: [
      relation('SPDXRef-DOCUMENT', 'DESCRIBES', idOf(described['bom-ref'])),
      ...edges.map(([from, to]) => relation(idOf(from), 'DEPENDS_ON', idOf(to))),
    ],
  };
}

function packageOf({ name, version, type, purl, cpe, licenses = [], hashes = [], ...component }: Component): object {
  const reference = (referenceCategory: string, referenceType: string, referenceLocator: string | undefined) =>
    referenceLocator === undefined ? [] : [{ referenceCategory, referenceType, referenceLocator }];
  const [licence] = licenses.map((one) => ('expression' in one ? one.expression : one.license.id));
  return {
    SPDXID: idOf(component['bom-ref']),
    name,
    versionInfo: version,
    primaryPackagePurpose: PURPOSES[type],
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: licence ?? 'NOASSERTION',
    copyrightText: 'NOASSERTION',
    ...(hashes.length > 0 && {
      checksums: hashes.map(({ alg, content }) => ({ algorithm: alg.replace('-', ''), checksumValue: content })),
    }),
    externalRefs: [...reference('PACKAGE-MANAGER', 'purl', purl), ...reference('SECURITY', 'cpe23Type', cpe)],
  };
}

const refOf = ({ name, version }: Component) => `${name}-${version}`;

/** Only letters, digits, dots and hyphens are allowed in one. */
function idOf(ref: string): string {
  return `SPDXRef-${ref.replaceAll(/[^A-Za-z0-9.]/g, (character) => `-${character.charCodeAt(0).toString(16)}-`)}`;
}
