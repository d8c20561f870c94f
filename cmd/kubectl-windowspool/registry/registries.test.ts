import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImageAnswer } from '../../../controllers/workloads/imageVariants.ts';
import { FakeRegistry, registriesOf } from '../testing/fakeRegistry.ts';
import { followed } from './exchange.ts';
import { unknownImages } from './registries.ts';

const W2019 = 'windows/amd64 10.0.17763.4131';
const W2022 = 'windows/amd64 10.0.20348.2762';

/** An answer in short, with the port of the registry replaced. */
function short(answer: ImageAnswer | undefined): string {
  if (answer?.kind !== 'found')
    return answer?.kind === 'unknown' ? answer.reason.replace(/127\.0\.0\.1:\d+/g, 'HOST') : 'not found';
  return answer.variants.map((each) => `${each.os}/${each.architecture} ${each.osVersion ?? ''}`.trim()).join(', ');
}

describe('the registry of an image', () => {
  let registry: FakeRegistry;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-registries-'));
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    registry = await FakeRegistry.start();
  });
  afterEach(() => registry[Symbol.asyncDispose]());

  const named = (name: string) => `${registry.host}/${name}`;
  const ask = async (name: string, env: Readonly<Record<string, string>> = {}, timeoutMs?: number) =>
    short((await registriesOf(env, timeoutMs ? { timeoutMs } : {}).ask([named(name)])).get(named(name)));
  /** A file of docker login with an entry for the registry. */
  const login = async (entry: object) => {
    const path = join(folder, `${registry.host}.json`);
    await writeFile(path, JSON.stringify({ auths: { [registry.host]: entry } }));
    return { REGISTRY_AUTH_FILE: path };
  };
  const PASSWORD = { username: 'jane', password: 's3cret' };
  const BASIC = `Basic ${Buffer.from('jane:s3cret').toString('base64')}`;

  it('says which systems the image is for, from an index or from its only manifest', async () => {
    registry.addIndex('cart', 'all', W2019, W2022, 'linux/arm64', 'unknown/unknown');
    registry.addImage('cart', '2022', W2022);
    assert.equal(await ask('cart:all'), `${W2019}, ${W2022}, linux/arm64`);
    assert.equal(await ask('cart:2022'), W2022);
    registry.addImage('cart', 'upper', 'Windows/x86_64 10.0.20348.2762');
    assert.equal(await ask('cart:upper'), 'windows/amd64 10.0.20348.2762');
    registry.addIndex('cart', 'mixed', 'linux/AMD64', 'linux/aarch64');
    assert.equal(await ask('cart:mixed'), 'linux/amd64, linux/arm64');
    const annotations = { 'vnd.docker.reference.type': 'attestation-manifest' };
    const attested = { manifests: [{ digest: 'x', annotations }] };
    registry.addContent('cart', 'attested', 'application/vnd.oci.image.index.v1+json', attested);
    assert.equal(await ask('cart:attested'), 'HOST has no image in the index');
    registry.addIndex('cart', 'empty');
    assert.equal(await ask('cart:empty'), 'HOST has no image in the index');
    const digest = registry.addImage('cart', '2019', W2019);
    assert.equal(await ask(`cart:other@${digest}`), W2019);
    registry.intercept = () => ({ status: 200, body: '{}' });
    assert.equal(await ask(`cart@${digest}`), 'HOST answers with other content than the digest says');
  });

  it('is asked for the manifests of an index that does not say the build', async () => {
    const digest = registry.addImage('cart', 'one', W2022);
    const platform = { os: 'windows', architecture: 'amd64' };
    registry.addContent('cart', 'all', 'application/vnd.oci.image.index.v1+json', {
      manifests: [
        { digest, platform },
        { digest },
        null,
        { digest: 'x', platform: { os: 'linux', architecture: 'amd64' } },
      ],
    });
    const text = await ask('cart:all');
    assert.equal(text, 'HOST answers with a manifest that this version does not know');
    registry.addContent('cart', 'two', 'application/vnd.oci.image.index.v1+json', {
      manifests: [{ digest, platform }, { digest }, ...Array.from({ length: 50 }, () => ({ digest, platform }))],
    });
    const found = await ask('cart:two');
    assert.equal(found.split(W2022).length - 1, 8);
    assert.ok(registry.requests.length < 40, `${registry.requests.length} requests`);
  });

  it('is asked once for images with the same manifest', async () => {
    for (const tag of ['1', '2', '3']) registry.addImage('cart', tag, W2022);
    const registries = registriesOf();
    await registries.ask(['1', '2', '3', '1'].map((tag) => named(`cart:${tag}`)));
    await registries.ask([named('other:1')]);
    const blobs = registry.requests.filter(({ path }) => path.includes('/blobs/'));
    assert.deepEqual([registry.requests.length, blobs.length], [5, 1]);
  });

  it('is known not to have the image', async () => assert.equal(await ask('cart:missing'), 'not found'));

  it('gets the credentials only when it asks for them', async () => {
    registry.addImage('cart', '1', W2022);
    assert.equal(await ask('cart:1', await login(PASSWORD)), W2022);
    assert.deepEqual(
      registry.requests.map(({ authorization }) => authorization),
      [undefined, undefined],
    );
    registry.intercept = ({ authorization }) =>
      authorization === BASIC ? undefined : { status: 401, headers: { 'www-authenticate': 'Basic realm="test"' } };
    assert.equal(await ask('cart:1', await login(PASSWORD)), W2022);
    assert.equal(
      await ask('cart:1'),
      'HOST does not let you pull cart. Check that it exists, and log in: docker login HOST',
    );
    const wrong = await ask('cart:1', await login({ username: 'jane', password: 'wrong' }));
    assert.equal(wrong, 'HOST does not let you pull cart. Check that it exists, and log in: docker login HOST');
  });

  describe('with a server of tokens', () => {
    beforeEach(() => {
      registry.addImage('shop/cart', '1', W2022);
      registry.intercept = ({ method, path, query, authorization, body }) => {
        if (path !== '/token') {
          const header = `Bearer realm="http://${registry.host}/token",service="test",scope="other"`;
          const isKnown = authorization === 'Bearer public' || authorization === 'Bearer mine';
          return isKnown ? undefined : { status: 401, headers: { 'www-authenticate': header } };
        }
        const { scope, service } = method === 'POST' ? Object.fromEntries(new URLSearchParams(body)) : query;
        if (scope !== 'repository:shop/cart:pull' || service !== 'test') return { status: 400 };
        if (body.includes('refresh_token=identity')) return { status: 200, body: '{"access_token":"mine"}' };
        if (authorization === undefined) return { status: 200, body: '{"token":"public"}' };
        return authorization === BASIC ? { status: 200, body: '{"token":"mine"}' } : { status: 401 };
      };
    });
    const tokens = () => registry.requests.filter(({ path }) => path === '/token').length;

    it('gets a token for anyone, with a password, and for an identity token', async () => {
      assert.equal(await ask('shop/cart:1'), W2022);
      assert.equal(await ask('shop/cart:1', await login(PASSWORD)), W2022);
      assert.equal(await ask('shop/cart:1', await login({ identitytoken: 'identity' })), W2022);
      assert.equal(tokens(), 3);
      assert.equal(await ask('shop/cart:1', await login({ registrytoken: 'mine' })), W2022);
      assert.equal(tokens(), 3);
    });

    it('needs one token for a repository, and another one when it has expired', async () => {
      const registries = registriesOf();
      const images = ['1', '2', '3'].map((tag) => named(`shop/cart:${tag}`));
      await registries.ask(images);
      assert.equal(tokens(), 1);
      const valid = registry.intercept;
      let expired = true;
      registry.intercept = (request) => {
        if (!expired || request.path === '/token') return valid(request);
        expired = false;
        return valid({ ...request, authorization: undefined });
      };
      assert.equal(short((await registries.ask(images)).get(images[0] ?? '')), W2022);
      assert.equal(tokens(), 2);
    });

    it('says that it does not accept the credentials', async () => {
      const text = await ask('shop/cart:1', await login({ username: 'jane', password: 'wrong' }));
      assert.equal(text, 'HOST does not let you pull shop/cart. Check that it exists, and log in: docker login HOST');
    });

    it('names the helper that failed, unless the image is public', async () => {
      const path = join(folder, 'helper.json');
      await writeFile(path, JSON.stringify({ credsStore: 'none' }));
      assert.equal(await ask('shop/cart:1', { REGISTRY_AUTH_FILE: path }), W2022);
      const open = registry.intercept;
      registry.intercept = (request) => (request.path === '/token' ? { status: 401 } : open(request));
      const text = await ask('shop/cart:1', { REGISTRY_AUTH_FILE: path });
      assert.equal(text, 'docker-credential-none failed: it is not on PATH');
    });
  });

  it('never gets the credentials of another host', async () => {
    await using other = await FakeRegistry.start();
    registry.addImage('cart', '1', W2022);
    const [manifest, blob] = [registry.requests, other.requests];
    registry.intercept = ({ path, authorization }) => {
      if (authorization !== BASIC) return { status: 401, headers: { 'www-authenticate': 'Basic realm="test"' } };
      return path.includes('/blobs/') ? { status: 307, headers: { location: `http://${other.host}/blob` } } : undefined;
    };
    other.intercept = () => ({ status: 200, body: '{"os":"windows","architecture":"amd64","os.version":"10.0.1"}' });
    const text = await ask('cart:1', await login(PASSWORD));
    assert.match(text, /^HOST does not have the content of sha256:/);
    assert.deepEqual([manifest.length, blob.map(({ authorization }) => authorization)], [3, [undefined]]);
  });

  const broken: readonly (readonly [what: string, answer: object, expected: string | RegExp])[] = [
    [
      'that redirects in a circle',
      { status: 302, headers: { location: '/v2/cart/manifests/1' } },
      'HOST redirects more than 5 times',
    ],
    [
      'that refers to the metadata of instances',
      { status: 302, headers: { location: 'http://169.254.169.254/latest' } },
      'HOST refers to http://169.254.169.254, which is not followed',
    ],
    [
      'with a server of tokens in another network',
      { status: 401, headers: { 'www-authenticate': 'Bearer realm="https://10.0.0.1/token"' } },
      'HOST refers to https://10.0.0.1, which is not followed',
    ],
    ['that does not say how to log in', { status: 401 }, 'HOST does not say how to log in'],
    [
      'with an answer that is too long',
      { status: 200, body: ' '.repeat(5 * 1024 ** 2) },
      'HOST answers with more than 4096 KiB',
    ],
    [
      'with an answer that is not JSON',
      { status: 200, body: '<html>\x1b[2J' },
      'HOST answers with something else than a JSON object',
    ],
    [
      'with an answer that is no object',
      { status: 200, body: 'null' },
      'HOST answers with something else than a JSON object',
    ],
    [
      'with a manifest of version 1',
      { status: 200, body: '{"schemaVersion":1}' },
      'HOST answers with a manifest that this version does not know',
    ],
    [
      'with a system that is no name',
      { status: 200, body: '{"manifests":[{"digest":"x","platform":{"os":"win\\u001bdows","architecture":5}}]}' },
      'HOST answers with a manifest that this version does not know',
    ],
    ['with too many requests', { status: 429 }, 'HOST limits the requests (HTTP 429). Try again later'],
    ['with an internal error', { status: 503 }, 'HOST answers with HTTP 503'],
    [
      'that denies access',
      { status: 403 },
      'HOST does not let you pull cart. Check that it exists, and log in: docker login HOST',
    ],
  ];
  for (const [what, answer, expected] of broken)
    it(`${what} leaves the image unknown`, async () => {
      registry.intercept = () => answer as { status: number };
      assert.equal(await ask('cart:1'), expected);
      assert.ok(registry.requests.length <= 6, `${registry.requests.length} requests`);
    });

  it('that does not answer costs one time-out, and is named once for all its images', async () => {
    await using silent = await silentServer();
    const registries = registriesOf({}, { timeoutMs: 50 });
    const images = Array.from({ length: 12 }, (_, index) => `${silent.host}/cart:${index}`);
    const lines = unknownImages(await registries.ask([...images, 'Not valid']));
    assert.ok(silent.connections() <= 4, `${silent.connections()} connections`);
    assert.deepEqual(
      lines.map((line) => line.replaceAll(silent.host, 'HOST')),
      [
        'The Windows builds of HOST/cart:0, HOST/cart:1, HOST/cart:2 and 9 more could not be read, so only their tags were checked: HOST cannot be reached: no answer within 0.05 s.',
        'The Windows build of Not valid could not be read, so only its tag was checked: it is not the name of an image.',
      ],
    );
  });

  it('is asked nothing more after an interrupt', async () => {
    const ending = new AbortController();
    registry.intercept = () => {
      ending.abort();
      return { status: 200, body: '{}' };
    };
    await assert.rejects(registriesOf({}, { signal: ending.signal }).ask([named('cart:1'), named('cart:2')]), {
      name: 'AbortError',
    });
  });
});

describe('an address that a registry refers to', () => {
  const rows: readonly (readonly [registry: string, to: string, isFollowed: boolean])[] = [
    ['https://example.com/', 'https://cdn.example.net/blob?signature=1', true],
    ['https://example.com/', '/other', true],
    ['https://10.0.0.1/', 'https://10.0.0.1/token', true],
    ['http://127.0.0.1:5000/', 'http://localhost:5001/token', true],
    ['https://example.com/', 'http://example.com/', false],
    ['https://example.com/', 'http://127.0.0.1:10250/', false],
    ['https://example.com/', 'https://localhost/', false],
    ['https://example.com/', 'https://169.254.169.254/', false],
    ['https://example.com/', 'https://[::ffff:169.254.169.254]/', false],
    ['https://example.com/', 'https://[fd00:ec2::254]/', false],
    ['https://example.com/', 'https://2852039166/', false],
    ['https://example.com/', 'https://192.168.1.1/', false],
    ['https://example.com/', 'file:///etc/passwd', false],
    ['https://example.com/', 'http://', false],
  ];
  for (const [registry, to, isFollowed] of rows)
    it(`${isFollowed ? 'may' : 'must not'} be ${to} for ${registry}`, () => {
      const follow = () => followed(new URL(registry), to, new URL(registry));
      if (isFollowed) assert.equal(follow().href, new URL(to, registry).href);
      else assert.throws(follow, /which is not followed$/);
    });
});

/** A server that accepts connections, and answers nothing. */
async function silentServer() {
  let connections = 0;
  const server = createServer(() => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
