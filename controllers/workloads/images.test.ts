import assert from 'node:assert/strict';
import { buildOfImage, imageFor } from './images.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

describe('the tag of an image', () => {
  const rows: readonly (readonly [image: string, build: string | undefined, for2025: string | undefined])[] = [
    ['mcr.microsoft.com/windows/servercore:ltsc2019', '10.0.17763', 'mcr.microsoft.com/windows/servercore:ltsc2025'],
    ['mcr.microsoft.com/windows/nanoserver:1809', '10.0.17763', undefined],
    ['Registry:5000/Shop/cart:1.4-LTSC2022', '10.0.20348', 'Registry:5000/Shop/cart:1.4-ltsc2025'],
    ['cart:4.8-windowsservercore-ltsc2022-v3', '10.0.20348', 'cart:4.8-windowsservercore-ltsc2025-v3'],
    ['cart:ltsc2025', '10.0.26100', undefined],
    ['windows/servercore:20H2', '10.0.19042', undefined],
    ['cart:1809', undefined, undefined],
    ['ltsc2019/cart:1', undefined, undefined],
    ['registry:5000/cart-ltsc2019', undefined, undefined],
    ['cart', undefined, undefined],
    [`cart:ltsc2019@${DIGEST}`, undefined, undefined],
    [`${'a:'.repeat(50_000)}ltsc2019`, undefined, `${'a:'.repeat(50_000)}ltsc2025`],
  ];
  for (const [image, build, expected] of rows)
    it(`${image.slice(0, 60)} names ${build ?? 'no build'}`, () => {
      assert.equal(buildOfImage(image), build);
      assert.equal(imageFor(image, 'ltsc2025'), expected);
    });
});
