/** `make image`: builds the image into build/image/. `make image-pins`: with `--update-pins`, updates pins.json. */
import { writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { buildImage } from './buildImage.ts';
import { PINS_FILE } from './pins.ts';
import { newestPins } from './updatePins.ts';

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

try {
  if (process.argv.includes('--update-pins')) {
    await writeFile(PINS_FILE, `${JSON.stringify(await newestPins(new Date()), null, 2)}\n`);
    console.log('hack/image/pins.json: review the change with git diff');
  } else {
    const { archive, digest, images } = await buildImage();
    for (const { architecture, layers } of images) {
      const sum = (sizes: readonly number[]) => megabytes(sizes.reduce((total, size) => total + size, 0));
      console.log(
        `linux/${architecture}: ${sum(layers.map(({ descriptor }) => descriptor.size))} compressed, ${sum(layers.map(({ unpackedBytes }) => unpackedBytes))} unpacked`,
      );
      for (const { name, descriptor, unpackedBytes } of layers)
        console.log(
          `  ${name.padEnd(14)} ${megabytes(descriptor.size).padStart(8)} ${megabytes(unpackedBytes).padStart(9)}`,
        );
    }
    console.log(`${relative(process.cwd(), archive)}\n${digest}`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
