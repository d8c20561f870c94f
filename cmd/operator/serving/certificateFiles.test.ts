import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../controllers/runtime/testing/silentLog.ts';
import { waitFor } from '../../../hack/controlplane/wait.ts';
import { CertificateFiles } from './certificateFiles.ts';
import { type KeyPair, selfSigned } from './selfSigned.ts';

const [first, second, third] = ['a', 'b', 'c'].map((name) => selfSigned([name], Date.now())) as [
  KeyPair,
  KeyPair,
  KeyPair,
];

/** A folder as the kubelet mounts a Secret: files are links through `..data`, which is swapped. */
class Mounted implements AsyncDisposable {
  readonly dir: string;
  #version = 0;

  private constructor(dir: string) {
    this.dir = dir;
  }

  static async with(pair: KeyPair): Promise<Mounted> {
    const mounted = new Mounted(await mkdtemp(join(tmpdir(), 'certificate-')));
    await mounted.swap({ 'tls.crt': pair.cert, 'tls.key': pair.key });
    for (const file of ['tls.crt', 'tls.key']) await symlink(join('..data', file), join(mounted.dir, file));
    return mounted;
  }

  async swap(files: Readonly<Record<string, string>>): Promise<void> {
    this.#version += 1;
    const version = `..version_${this.#version}`;
    await mkdir(join(this.dir, version));
    for (const [file, content] of Object.entries(files)) await writeFile(join(this.dir, version, file), content);
    await symlink(version, join(this.dir, '..data_tmp'));
    await rename(join(this.dir, '..data_tmp'), join(this.dir, '..data'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }
}

function follow(dir: string) {
  const errors: string[] = [];
  const taken: string[] = [];
  const counts = { read: 0, failed: 0 };
  const log = { ...silentLog, error: (fields: object) => void errors.push((fields as { error: string }).error) };
  const hooks = { read: () => void counts.read++, failed: () => void counts.failed++ };
  const files = new CertificateFiles(dir, log, hooks);
  return { files, errors, taken, counts, start: () => files.follow(({ cert }) => void taken.push(cert)) };
}

const soon = { timeoutMs: 10_000, intervalMs: 20 };

describe('a mounted certificate', () => {
  it('is reloaded when Kubernetes replaces it, and logged once', async () => {
    await using mounted = await Mounted.with(first);
    const { files, taken, counts, start } = follow(mounted.dir);
    using _ = files;
    assert.deepEqual(await files.first(), first);
    start();
    await mounted.swap({ 'tls.crt': second.cert, 'tls.key': second.key });
    await waitFor(() => taken.length === 1, { what: 'the second certificate', ...soon });
    await mounted.swap({ 'tls.crt': third.cert, 'tls.key': third.key });
    await waitFor(() => taken.length === 2, { what: 'the third certificate', ...soon });
    assert.deepEqual([taken, counts], [[second.cert, third.cert], { read: 3, failed: 0 }]);
  });

  it('is reloaded if it changes before the watch starts', async () => {
    await using mounted = await Mounted.with(first);
    const { files, taken, start } = follow(mounted.dir);
    using _ = files;
    await files.first();
    await mounted.swap({ 'tls.crt': second.cert, 'tls.key': second.key });
    start();
    await waitFor(() => taken.length === 1, { what: 'the second certificate', ...soon });
  });

  it('is still served while the next one is invalid, and the error is logged once with the file', async () => {
    await using mounted = await Mounted.with(first);
    const { files, errors, taken, counts, start } = follow(mounted.dir);
    using _ = files;
    await files.first();
    start();
    await mounted.swap({ 'tls.crt': second.cert, 'tls.key': first.key });
    await waitFor(() => errors.length === 1, { what: 'the complaint', ...soon });
    await mounted.swap({ 'tls.crt': second.cert, 'tls.key': third.key });
    await waitFor(() => counts.failed === 2, { what: 'the second failure', ...soon });
    assert.deepEqual(taken, []);
    assert.equal(errors.length, 1);
    assert.match(errors[0] ?? '', /tls\.key is not the key of \S*tls\.crt\./);
    await mounted.swap({ 'tls.crt': second.cert, 'tls.key': second.key });
    await waitFor(() => taken.length === 1, { what: 'the second certificate', ...soon });
  });

  const broken: Readonly<Record<string, readonly [files: Readonly<Record<string, string>>, message: RegExp]>> = {
    'no certificate': [{ 'tls.key': first.key }, /tls\.crt does not exist\. Mount a Secret .*--metrics-cert-dir/],
    'neither of them': [{}, /tls\.crt does not exist\. Mount a Secret/],
    'no key': [{ 'tls.crt': first.cert }, /tls\.key does not exist\. Mount a Secret/],
    'text for a certificate': [
      { 'tls.crt': 'hello', 'tls.key': first.key },
      /tls\.crt contains no certificate in PEM format/,
    ],
    'an empty key': [{ 'tls.crt': first.cert, 'tls.key': '' }, /tls\.key contains no private key in PEM format/],
    'a chain that is broken': [
      {
        'tls.crt': `${first.cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
        'tls.key': first.key,
      },
      /tls\.crt and .*tls\.key cannot be used: .*\. Correct the Secret/,
    ],
    'the key of another': [{ 'tls.crt': first.cert, 'tls.key': second.key }, /tls\.key is not the key of .*tls\.crt/],
  };
  for (const [what, [content, message]] of Object.entries(broken)) {
    it(`is rejected at the start with ${what}, and the error has the file and the remedy`, async () => {
      await using mounted = await Mounted.with(first);
      await mounted.swap(content);
      const { files } = follow(mounted.dir);
      using _ = files;
      await assert.rejects(files.first(), message);
    });
  }
});
