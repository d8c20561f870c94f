import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { credentialsFor } from './credentials.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const IMAGE = { registry: 'example.com', repository: 'shop/cart', reference: '1' };
const HUB_IMAGE = { registry: 'docker.io', repository: 'library/cart', reference: '1' };

/** A helper that knows `example.com` and Docker Hub. */
const HELPER = `#!/bin/sh
read server
[ "$1" = get ] || exit 2
case "$server" in
  example.com) echo '{"Username":"helped","Secret":"s3cret"}';;
  https://index.docker.io/v1/) echo '{"Username":"<token>","Secret":"identity"}';;
  broken.example.com) echo 'the keychain is locked' >&2; exit 1;;
  odd.example.com) echo 'not JSON, and s3cret';;
  *) echo 'credentials not found in native keychain'; exit 1;;
esac
`;

describe('the credentials for an image', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-credentials-'));
    await writeFile(join(folder, 'docker-credential-test'), HELPER);
    await chmod(join(folder, 'docker-credential-test'), 0o755);
  });
  after(() => rm(folder, { recursive: true }));

  /** Each file by its path below the home folder. */
  async function found(
    files: Readonly<Record<string, unknown>>,
    image = IMAGE,
    environment: (home: string) => Readonly<Record<string, string>> = () => ({}),
  ): Promise<string> {
    const home = await mkdtemp(join(folder, 'home-'));
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(home, path)), { recursive: true });
      await writeFile(join(home, path), typeof content === 'string' ? content : JSON.stringify(content));
    }
    const env = { PATH: `${folder}:${process.env.PATH}`, HOME: home, ...environment(home) };
    try {
      const credentials = await credentialsFor(image, { env, signal: new AbortController().signal });
      if (!credentials) return 'none';
      return credentials.kind === 'password'
        ? `${credentials.username}:${credentials.password}`
        : `${credentials.kind} ${credentials.token}`;
    } catch (error) {
      return (error as Error).message.replaceAll(home, '~');
    }
  }

  const DOCKER = '.docker/config.json';
  const auth = (text: string) => ({ auth: base64(text) });
  const rows: readonly (readonly [what: string, file: unknown, expected: string, image?: typeof IMAGE])[] = [
    ['an entry of docker login', { auths: { 'example.com': auth('jane:a:b') } }, 'jane:a:b'],
    ['an entry with the old form of its key', { auths: { 'https://example.com/v1/': auth('jane:a') } }, 'jane:a'],
    ['the entry of Docker Hub', { auths: { 'https://index.docker.io/v1/': auth('hub:a') } }, 'hub:a', HUB_IMAGE],
    [
      'the most specific entry',
      { auths: { 'example.com': auth('all:a'), 'example.com/shop': auth('shop:a') } },
      'shop:a',
    ],
    ['no entry of a repository with a similar name', { auths: { 'example.com/sho': auth('sho:a') } }, 'none'],
    ['no entry of another host', { auths: { 'example.com.test': auth('a:b'), 'ample.com': auth('a:b') } }, 'none'],
    ['an identity token', { auths: { 'example.com': { identitytoken: 'abc' } } }, 'identity abc'],
    ['a token of the registry', { auths: { 'example.com': { registrytoken: 'abc' } } }, 'registry abc'],
    ['fields in plain text', { auths: { 'example.com': { username: 'jane', password: 'a' } } }, 'jane:a'],
    ['an empty entry, as docker writes it for a helper', { auths: { 'example.com': {} } }, 'none'],
    ['a helper of the registry', { credHelpers: { 'example.com': 'test' }, credsStore: 'missing' }, 'helped:s3cret'],
    ['the helper of all registries', { credsStore: 'test' }, 'identity identity', HUB_IMAGE],
    [
      'the file, if the helper has nothing',
      { auths: { 'other.example.com': auth('jane:a') }, credsStore: 'test' },
      'jane:a',
      { ...IMAGE, registry: 'other.example.com' },
    ],
    [
      'why a helper failed',
      { credsStore: 'test' },
      'docker-credential-test failed: the keychain is locked',
      { ...IMAGE, registry: 'broken.example.com' },
    ],
    [
      'that a helper prints no JSON, without its text',
      { credsStore: 'test' },
      'docker-credential-test did not print JSON',
      { ...IMAGE, registry: 'odd.example.com' },
    ],
    ['a helper that is not installed', { credsStore: 'none' }, 'docker-credential-none failed: it is not on PATH'],
    ['a helper that is a path', { credsStore: '../x' }, 'docker-credential-../x is not the name of a program'],
    [
      'a file that is not JSON, without its text',
      '{"auths": s3cret',
      '~/.docker/config.json cannot be read: it is not JSON',
    ],
    ['a file without anything', {}, 'none'],
  ];
  for (const [what, file, expected, image] of rows)
    it(`are read from ${DOCKER}: ${what}`, async () => assert.equal(await found({ [DOCKER]: file }, image), expected));

  const entry = (user: string) => ({ auths: { 'example.com': auth(`${user}:a`) } });
  it('are those of DOCKER_CONFIG, REGISTRY_AUTH_FILE and podman, too', async () => {
    const files = {
      [DOCKER]: entry('docker'),
      'other/config.json': entry('other'),
      'auth.json': entry('file'),
      'empty.json': {},
      '.config/containers/auth.json': entry('podman'),
    };
    const { '.config/containers/auth.json': _, ...withoutPodman } = files;
    const other = (home: string) => ({ DOCKER_CONFIG: join(home, 'other') });
    const results = [
      await found(files),
      await found(withoutPodman, IMAGE, other),
      await found(files, IMAGE, (home) => ({ ...other(home), REGISTRY_AUTH_FILE: join(home, 'auth.json') })),
      await found(withoutPodman, IMAGE, (home) => ({ REGISTRY_AUTH_FILE: join(home, 'empty.json') })),
      await found({}),
    ];
    assert.deepEqual(results, ['podman:a', 'other:a', 'file:a', 'docker:a', 'none']);
  });
});
