import assert from 'node:assert/strict';
import { parseDockerfile, shipped } from './shipped.ts';

describe('what the Dockerfile says of the start', () => {
  it('is taken from the last stage only', () => {
    const text = `FROM a AS build
ENV EARLIER=1
FROM b
ENV NODE_ENV=production \\
    NODE_OPTIONS="--one --two=2"
ENV OTHER=x
ENTRYPOINT ["node", "--flag=1", "/app/operator.mjs", "--later"]
`;
    assert.deepEqual(parseDockerfile(text), {
      env: { NODE_ENV: 'production', NODE_OPTIONS: '--one --two=2', OTHER: 'x' },
      nodeFlags: ['--flag=1'],
    });
  });

  it('is refused when it starts something else', () => {
    assert.throws(() => parseDockerfile('FROM a\nENTRYPOINT ["sh"]\n'), /ENTRYPOINT/);
  });

  it('is found in this project', async () => {
    assert.equal((await shipped()).env.NODE_ENV, 'production');
  });
});
