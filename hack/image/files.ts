/** The files of the image: a folder for each layer, as the Dockerfile copies them. */
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bundle } from '../bundle.ts';
import { operatorSbom } from '../supplyChain/imageSboms.ts';
import { debianFile, nodeTarball } from './downloads.ts';
import type { Architecture, Pins } from './pins.ts';
import { runOrThrow } from './run.ts';

const TIMEOUT_MS = 120_000;

/** What the image has of its Debian packages: no program, no documentation but licences, and no character sets, which Node.js has itself. */
const KEPT = [
  /^etc\/debian_version$/,
  /^usr\/lib\/os-release$/,
  /^lib(64)?$/,
  /^usr\/lib(64)?\/([^/]+\/)?[^/]+\.so(\.[\d.]+)?$/,
  /^usr\/share\/zoneinfo\//,
  /^usr\/share\/common-licenses\//,
  /^usr\/share\/doc\/[^/]+(\/copyright)?$/,
];

/** Users without a shell. The files belong to root, and the operator runs as the other one. */
const USERS = `root:x:0:0:root:/root:/sbin/nologin
nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin
`;

/** Writes the files of the layer `debian`: shared libraries, certificates, time zones, and what tells scanners which packages they are from. */
export async function debianFiles(architecture: Architecture, { debian }: Pins, folder: string): Promise<void> {
  const unpacked = join(folder, '.unpacked');
  await mkdir(join(folder, 'var/lib/dpkg/status.d'), { recursive: true });
  for (const [name, pins] of Object.entries(debian.packages)) {
    const file = await debianFile(name, pins[architecture], debian.snapshot);
    await rm(unpacked, { recursive: true, force: true });
    await runOrThrow('dpkg-deb', ['--raw-extract', file, unpacked], TIMEOUT_MS);
    const control = join(unpacked, 'DEBIAN');
    const status = join(folder, 'var/lib/dpkg/status.d', name);
    const sums = await readFile(join(control, 'md5sums'), 'utf8');
    const isKept = (path: string) => KEPT.some((pattern) => pattern.test(path));
    // The convention of the distroless images, which scanners know.
    await rename(join(control, 'control'), status);
    await writeFile(
      `${status}.md5sums`,
      sums.replaceAll(/^\S+ {2}(.*)\n/gm, (line, path) => (isKept(path) ? line : '')),
    );
    await rm(control, { recursive: true });
    if (name === 'ca-certificates') await writeCertificates(unpacked, folder);
    for (const path of await pathsOf(unpacked)) {
      if (!isKept(path)) continue;
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await rename(join(unpacked, path), join(folder, path));
    }
  }
  await rm(unpacked, { recursive: true, force: true });
  await symlink('../usr/lib/os-release', join(folder, 'etc/os-release'));
  await writeFile(join(folder, 'etc/passwd'), USERS);
  await writeFile(join(folder, 'etc/group'), 'root:x:0:\nnonroot:x:65532:\n');
  // Names of hosts in /etc/hosts come first.
  await writeFile(join(folder, 'etc/nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n');
  await mkdir(join(folder, 'home/nonroot'), { recursive: true });
  await fixModes(folder);
}

/** All certificates in one file, in the order of their names, as `update-ca-certificates` writes it. */
async function writeCertificates(unpacked: string, folder: string): Promise<void> {
  const source = join(unpacked, 'usr/share/ca-certificates');
  const names = (await pathsOf(source)).filter((path) => path.endsWith('.crt'));
  const texts = await Promise.all(names.map((name) => readFile(join(source, name), 'utf8')));
  await mkdir(join(folder, 'etc/ssl/certs'), { recursive: true });
  await writeFile(
    join(folder, 'etc/ssl/certs/ca-certificates.crt'),
    texts.map((text) => `${text.trimEnd()}\n`).join(''),
  );
}

/** Writes the files of the layer `node`: the program and its licence, without npm. */
export async function nodeFiles(architecture: Architecture, { node }: Pins, folder: string): Promise<void> {
  const bin = join(folder, 'usr/local/bin');
  const doc = join(folder, 'usr/share/doc/node');
  await mkdir(bin, { recursive: true });
  await mkdir(doc, { recursive: true });
  const tarball = await nodeTarball(architecture, node);
  const strip = ['--no-same-owner', '--no-same-permissions'];
  await runOrThrow(
    'tar',
    ['-xzf', tarball, ...strip, '-C', bin, '--strip-components=2', 'package/bin/node'],
    TIMEOUT_MS,
  );
  await runOrThrow(
    'tar',
    ['-xzf', tarball, ...strip, '-C', doc, '--strip-components=1', 'package/LICENSE'],
    TIMEOUT_MS,
  );
  await rename(join(doc, 'LICENSE'), join(doc, 'copyright'));
  await fixModes(folder);
}

/** Writes the files of the layer `operator`: the bundle, with the licences and the SBOM of its packages, which scanners cannot find otherwise. */
export async function operatorFiles(folder: string): Promise<void> {
  await bundle('cmd/operator/main.ts', 'operator', join(folder, 'app'));
  await writeFile(join(folder, 'app/operator.cdx.json'), `${JSON.stringify(await operatorSbom(), null, 2)}\n`);
  await fixModes(folder);
}

/** All paths below a folder, without folders, sorted. */
async function pathsOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
  return paths.sort();
}

/** Nobody may write a file; all may read it and, where anybody may, execute it. */
async function fixModes(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else if (entry.isFile()) await chmod(path, ((await lstat(path)).mode & 0o111) === 0 ? 0o444 : 0o555);
  }
}
