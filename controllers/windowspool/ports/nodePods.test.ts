import assert from 'node:assert/strict';
import fc from 'fast-check';
import { kubeletMessage } from './nodePods.ts';

describe('a message of a kubelet', () => {
  const image = 'example.com/web:1';
  const pull = `failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`;
  const table: readonly (readonly [string, string, string])[] = [
    ['has the cause of a failed pull', `rpc error: code = NotFound desc = ${pull}`, pull],
    [
      'has the same cause while the kubelet waits',
      `Back-off pulling image "${image}": ErrImagePull: rpc error: code = NotFound desc = ${pull}`,
      pull,
    ],
    ['is empty if an older kubelet only waits', `Back-off pulling image "${image}"`, ''],
    [
      'has no query of a URL, which can have a signature',
      'failed to copy: httpReadSeeker: failed open: Get "https://layers.s3.amazonaws.com/a?X-Amz-Security-Token=secret&X-Amz-Signature=secret": dial tcp 10.0.0.9:443: i/o timeout',
      'failed to copy: httpReadSeeker: failed open: Get "https://layers.s3.amazonaws.com/a": dial tcp 10.0.0.9:443: i/o timeout',
    ],
    [
      'has no local port, which differs at each attempt',
      'lookup example.com on 10.0.0.2:53: read udp 10.0.1.5:51234->10.0.0.2:53: i/o timeout',
      'lookup example.com on 10.0.0.2:53: read udp 10.0.0.2:53: i/o timeout',
    ],
    [
      'has no milliseconds, which differ at each attempt',
      'curl: (28) Connection timed out after 10012 milliseconds',
      'curl: (28) Connection timed out',
    ],
    ['has no line breaks', 'curl: (6) Could not resolve host: a\r\n', 'curl: (6) Could not resolve host: a'],
  ];
  for (const [name, text, want] of table) it(name, () => assert.equal(kubeletMessage(text), want));

  it('has at most 1024 characters, without control characters, and takes little time, whatever its length', () => {
    const part = fc.constantFrom(
      '?',
      'dial tcp ',
      '->',
      ' after ',
      '9',
      'rpc error: code = A desc = ',
      '"',
      ' ',
      '\u001b',
      'Back-off pulling image "',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const text = parts.join('').repeat(20_000);
        const start = performance.now();
        const found = kubeletMessage(text);
        assert.ok(performance.now() - start < 500);
        assert.ok(found.length <= 1_024);
        assert.doesNotMatch(found, /\p{Cc}/u);
      }),
      { numRuns: 50 },
    );
  });
});
