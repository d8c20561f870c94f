import assert from 'node:assert/strict';
import { parseImage, urlOf } from './reference.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

describe('the name of an image', () => {
  const rows: readonly (readonly [image: string, address: string | undefined])[] = [
    ['nginx', 'https://registry-1.docker.io/ library/nginx latest'],
    ['index.docker.io/shop/cart:1', 'https://registry-1.docker.io/ shop/cart 1'],
    ['shop/cart:1.4-ltsc2022', 'https://registry-1.docker.io/ shop/cart 1.4-ltsc2022'],
    [`example.com:5000/shop/web__api/cart:1@${DIGEST}`, `https://example.com:5000/ shop/web__api/cart ${DIGEST}`],
    ['localhost:5000/cart', 'http://localhost:5000/ cart latest'],
    ['127.0.0.1/cart:1', 'http://127.0.0.1/ cart 1'],
    ['[::1]:5000/cart:1', 'http://[::1]:5000/ cart 1'],
    ['plain.example.com/cart:1', 'http://plain.example.com/ cart 1'],
    ['127.example.com/cart:1', 'https://127.example.com/ cart 1'],
    ['', undefined],
    ['Cart:1', undefined],
    ['example.com/../../v2/cart:1', undefined],
    ['example.com/cart:1?scope=all', undefined],
    ['user@example.com/cart', undefined],
    [`example.com/cart@sha256:${'a'.repeat(63)}`, undefined],
    ['example.com\x1b/cart:1', undefined],
    [`example.com/${'cart/'.repeat(50_000)}cart`, undefined],
    [`a${'-'.repeat(500)}`, undefined],
  ];
  for (const [image, address] of rows)
    it(`${JSON.stringify(image.slice(0, 60))} is ${address ?? 'not valid'}`, () => {
      const found = parseImage(image);
      const url = found && urlOf(found.registry, found.registry === 'plain.example.com');
      assert.equal(found && `${url?.href} ${found.repository} ${found.reference}`, address);
    });
});
