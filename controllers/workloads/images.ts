/** The Windows builds that the tags of images name. */

/** Microsoft's tags of Windows base images, as regular expressions of lower-case images, by build. Other tags are unknown. */
export const TAGS: Readonly<Record<string, string>> = {
  '10.0.14393': `${tagWith('ltsc2016')}|${buildTag('14393')}`,
  '10.0.17763': `${tagWith('ltsc2019')}|${versionTag('1809')}|${buildTag('17763')}`,
  '10.0.19042': `${versionTag('20h2')}|${buildTag('19042')}`,
  '10.0.20348': `${tagWith('ltsc2022')}|${buildTag('20348')}`,
  '10.0.26100': `${tagWith('ltsc2025')}|${buildTag('26100')}`,
};

/** Images of Windows, by a repository of Microsoft or by their tag. */
export const WINDOWS_IMAGE = `^mcr[.]microsoft[.]com/windows/|${Object.values(TAGS).join('|')}`;

const OFFICIAL = '^((docker[.]io|public[.]ecr[.]aws/docker)/)?(library/)?';

/**
 * Images of Linux distributions, and official images whose tag names a distribution. In other repositories, such a tag proves nothing: those of the tests of
 * Kubernetes have Windows images with the tag 1.14-alpine.
 */
export const LINUX_IMAGE =
  `${OFFICIAL}(alpine|ubuntu|debian|amazonlinux|fedora|rockylinux|almalinux|photon)(:|$)|` +
  `(${OFFICIAL}[^/:]+|^mcr[.]microsoft[.]com/dotnet/[^:]+):([^/]*[._-])?(alpine[0-9.]*|buster|bullseye|bookworm|trixie|focal|jammy|noble)($|[._-])`;

/** Microsoft also tags with the full build: 10.0.17763.4131. */
function buildTag(build: string): string {
  return tagWith(`10[.]0[.]${build}([.][0-9]+)?`);
}

function tagWith(part: string): string {
  return `:([^/]*[._-])?${part}($|[._-])`;
}

/** 1809 can also be the number of a CI build: it is a version only next to the name of a base image. */
function versionTag(version: string): string {
  return `(windows|servercore|nanoserver):${version}($|[._-])|${tagWith(`(win|windows|windowsservercore|servercore|nanoserver)[_-]?${version}`)}`;
}

/** No image is longer: 255 characters of a name, and 128 of a tag. https://pkg.go.dev/github.com/distribution/reference */
export const LONGEST_IMAGE = 512;

/** The build that the tag of an image names; undefined: the tag does not name one, or the image is identified by its digest. */
export function buildOfImage(image: string): string | undefined {
  if (image.includes('@') || image.length > LONGEST_IMAGE) return undefined;
  return Object.keys(TAGS).find((build) => new RegExp(TAGS[build] ?? '').test(image.toLowerCase()));
}

/** The image with another version in its tag: (`app:4.8-ltsc2019`, `ltsc2022`) -> `app:4.8-ltsc2022`; undefined if its tag has no such part. */
export function imageFor(image: string, version: string): string | undefined {
  const at = image.lastIndexOf(':') + 1;
  const tag = image.slice(at);
  // Without a tag, the last colon is that of the port of the registry.
  if (at === 0 || tag.includes('/') || image.includes('@')) return undefined;
  const changed = tag.replace(/(^|[._-])ltsc20\d\d(?=$|[._-])/i, `$1${version}`);
  return changed === tag ? undefined : image.slice(0, at) + changed;
}
