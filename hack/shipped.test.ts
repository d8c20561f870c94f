import assert from 'node:assert/strict';
import { parseDockerfile, shipped } from './shipped.ts';

describe('the start command in the Dockerfile', () => {
  it('is read from the last stage only', () => {
    const text = `FROM a AS build
ENV EARLIER=1
FROM b
ENV NODE_ENV=production \\
    NODE_OPTIONS="--one --two=2"
ENV OTHER=x
USER 7:8
ENTRYPOINT ["node", "--flag=1", "/app/operator.mjs", "--later"]
`;
    assert.deepEqual(parseDockerfile(text), {
      env: { NODE_ENV: 'production', NODE_OPTIONS: '--one --two=2', OTHER: 'x' },
      nodeFlags: ['--flag=1'],
      user: '7:8',
    });
  });

  it('is rejected if it starts another program', () => {
    assert.throws(() => parseDockerfile('FROM a\nENTRYPOINT ["sh"]\n'), /ENTRYPOINT/);
  });

  it('is rejected without a numeric user', () => {
    const text = 'FROM a\nUSER node\nENTRYPOINT ["node", "x.mjs"]\n';
    assert.throws(() => parseDockerfile(text), /has no USER in numbers/);
  });

  it('exists in this project', () => {
    assert.equal(shipped().env.NODE_ENV, 'production');
  });
});
