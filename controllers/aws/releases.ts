/** The port Releases on SSM and EC2: https://docs.aws.amazon.com/eks/latest/userguide/retrieve-windows-ami-id.html */
import type { CallError } from '../windowspool/ports/callResult.ts';
import { imageParameterOf, type Releases, releaseParameterOf } from '../windowspool/ports/eks.ts';
import type { Images } from '../windowspool/ports/prerequisites.ts';
import type { SsmCall } from './calls.ts';
import { parameterIn } from './images.ts';
import { mapped } from './results.ts';

const DATE = /\d{4}[.-]\d{2}[.-]\d{2}$/;

/**
 * A release is the value `release_version` in the JSON of the parameter. terraform-aws-modules/terraform-aws-eks reads it there for AMI types WINDOWS_*, but the
 * user guide documents only the ID of the AMI. Without it, or if it cannot be read, the release is the date at the end of the AMI's name. An error that will pass
 * is returned.
 */
export function createReleases(ssm: SsmCall, images: Images): Releases {
  return {
    newest: async (windows, minor, signal) => {
      const { year, edition } = windows;
      const described = await parameterIn(ssm, releaseParameterOf(year, edition, minor), signal);
      if (!described.ok && willPass(described.error)) return described;
      const value = described.ok ? releaseIn(described.value, minor) : undefined;
      return value === undefined ? await inName(images, windows, minor, signal) : { ok: true, value };
    },
    exists: async ({ year, edition }, minor, signal) =>
      mapped(await images.idIn(imageParameterOf(year, edition, minor), signal), (id) => id !== undefined),
  };
}

/** Whether the same read may succeed soon. What AWS cannot have sent would be sent again. */
function willPass({ kind, code }: CallError): boolean {
  return ['throttled', 'unavailable', 'busy'].includes(kind) && code !== 'MalformedResponse';
}

/** The release of the minor version in the value of the parameter; undefined if it has none. */
function releaseIn(text: string | undefined, minor: string): string | undefined {
  const { release_version: release } = objectIn(text ?? '');
  if (typeof release !== 'string') return undefined;
  return release === `${minor}-${DATE.exec(release)?.[0]}` ? release : undefined;
}

function objectIn(text: string): { readonly release_version?: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

async function inName(
  images: Images,
  { year, edition }: Parameters<Releases['newest']>[0],
  minor: string,
  signal: AbortSignal,
): ReturnType<Releases['newest']> {
  const id = await images.idIn(imageParameterOf(year, edition, minor), signal);
  if (!id.ok || id.value === undefined) return id;
  return mapped(await images.find(id.value, signal), (image) => {
    const [date] = DATE.exec(image?.name ?? '') ?? [];
    return date && `${minor}-${date}`;
  });
}
