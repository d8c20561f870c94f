import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publishedDigest, withDigests } from './imageDigests.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;

describe('the base images', () => {
  it('keep their tags and get their digests, in place of older ones', async () => {
    const text = `FROM node:1-slim AS build\nRUN true\nFROM node:1-slim@${digest('0')}\nCOPY --from=build /a /b\n`;
    assert.equal(
      await withDigests(text, async (image) => digest(image === 'node:1-slim' ? 'a' : 'b')),
      `FROM node:1-slim@${digest('a')} AS build\nRUN true\nFROM node:1-slim@${digest('a')}\nCOPY --from=build /a /b\n`,
    );
  });

  describe('in a registry', () => {
    let folder: string;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'windowspool-digests-'));
    });
    after(() => rm(folder, { recursive: true, force: true }));

    /** A program that answers as docker does. */
    async function docker(name: string, script: string): Promise<string> {
      const path = join(folder, name);
      await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      return path;
    }

    it('are asked for their digest by their tag', async () => {
      const program = await docker('answers', `[ "$4" = node:1-slim ] && echo ${digest('c')}`);
      assert.equal(await publishedDigest('node:1-slim', program), digest('c'));
    });

    for (const [title, script] of [
      ['it does not answer', "echo 'no such host' >&2; exit 1"],
      ['its answer is no digest', 'echo no such host'],
    ] as const)
      it(`have no digest if ${title}, and the message names the next step`, async () => {
        await assert.rejects(
          publishedDigest('node:1-slim', await docker('fails', script)),
          /^Error: .*node:1-slim .*: "?no such host.* make image-digests /,
        );
      });
  });
});
