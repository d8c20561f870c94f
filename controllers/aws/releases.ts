/** The port Releases on SSM and EC2: https://docs.aws.amazon.com/eks/latest/userguide/retrieve-windows-ami-id.html */
import { imageParameterOf, type Releases } from '../windowspool/ports/eks.ts';
import type { Images } from '../windowspool/ports/prerequisites.ts';
import { mapped } from './results.ts';

/** SSM has only the id of the newest AMI. The release date is at the end of the AMI's name. */
export function createReleases(images: Images): Releases {
  return {
    newest: async ({ year, edition }, minor, signal) => {
      const id = await images.idIn(imageParameterOf(year, edition, minor), signal);
      if (!id.ok || id.value === undefined) return id;
      return mapped(await images.find(id.value, signal), (image) => {
        const [, date] = /-(\d{4}[.-]\d{2}[.-]\d{2})$/.exec(image?.name ?? '') ?? [];
        return date && `${minor}-${date}`;
      });
    },
    exists: async ({ year, edition }, minor, signal) =>
      mapped(await images.idIn(imageParameterOf(year, edition, minor), signal), (id) => id !== undefined),
  };
}
