import assert from 'node:assert/strict';
import { imageSettings, parseDockerfile, shipped } from './shipped.ts';

describe('the settings in the Dockerfile', () => {
  it('are those of the image', () => {
    const text = `FROM scratch
ARG TARGETARCH
COPY build/image/$TARGETARCH/one /
COPY build/image/all/two /
LABEL org.example.title="a title" \\
      org.example.plain=x
ENV NODE_ENV=production \\
    NODE_OPTIONS="--one --two=2"
ENV OTHER=x
USER 7:8
ENTRYPOINT ["node", "--flag=1", "/app/operator.mjs", "--later"]
`;
    assert.deepEqual(parseDockerfile(text), {
      env: { NODE_ENV: 'production', NODE_OPTIONS: '--one --two=2', OTHER: 'x' },
      labels: { 'org.example.title': 'a title', 'org.example.plain': 'x' },
      user: '7:8',
      entrypoint: ['node', '--flag=1', '/app/operator.mjs', '--later'],
      layers: ['$TARGETARCH/one', 'all/two'],
    });
  });

  it('are rejected if it starts another program', () => {
    assert.throws(() => parseDockerfile('FROM a\nENTRYPOINT ["sh"]\n'), /ENTRYPOINT/);
  });

  it('are rejected without a numeric user', () => {
    const text = 'FROM a\nUSER node\nENTRYPOINT ["node", "x.mjs"]\n';
    assert.throws(() => parseDockerfile(text), /has no USER in numbers/);
  });

  it('start the operator in tests as in the image, but for the folders of the image', () => {
    const { env, user, entrypoint } = imageSettings();
    const { PATH, HOME, ...others } = env;
    assert.deepEqual([PATH, HOME], ['/usr/local/bin:/usr/bin:/bin', '/home/nonroot']);
    const { nodeFlags, ...same } = shipped();
    assert.deepEqual(same, { env: others, user });
    assert.equal(others.NODE_ENV, 'production');
    assert.deepEqual(entrypoint, ['node', ...nodeFlags, '/app/operator.mjs']);
  });
});
