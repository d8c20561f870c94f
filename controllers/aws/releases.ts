/** The port Releases on SSM and EC2: https://docs.aws.amazon.com/eks/latest/userguide/retrieve-windows-ami-id.html */
import type { CallResult } from '../windowspool/ports/callResult.ts';
import { imageParameterOf, type Releases } from '../windowspool/ports/eks.ts';
import type { Ec2Images } from './images.ts';

/** SSM has only the id of the newest AMI. The release date is at the end of the AMI's name. */
export class PublishedReleases implements Releases {
  readonly #images: Ec2Images;

  constructor(images: Ec2Images) {
    this.#images = images;
  }

  async newest(
    { year, edition }: Parameters<Releases['newest']>[0],
    minor: string,
    signal: AbortSignal,
  ): Promise<CallResult<string | undefined>> {
    const id = await this.#images.idIn(imageParameterOf(year, edition, minor), signal);
    if (!id.ok || id.value === undefined) return id;
    const image = await this.#images.find(id.value, signal);
    if (!image.ok) return image;
    const [, date] = /-(\d{4}[.-]\d{2}[.-]\d{2})$/.exec(image.value?.name ?? '') ?? [];
    return { ok: true, value: date && `${minor}-${date}` };
  }

  async exists(
    { year, edition }: Parameters<Releases['exists']>[0],
    minor: string,
    signal: AbortSignal,
  ): Promise<CallResult<boolean>> {
    const id = await this.#images.idIn(imageParameterOf(year, edition, minor), signal);
    return id.ok ? { ok: true, value: id.value !== undefined } : id;
  }
}
