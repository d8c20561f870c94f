import assert from 'node:assert/strict';
import lock from '../package-lock.json' with { type: 'json' };
import siteLock from './site/app/package-lock.json' with { type: 'json' };

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Packages = Readonly<Record<string, Locked>>;

const installedOf = (packages: Packages) => Object.entries(packages).filter(([folder]) => folder !== '');

/** The folder in which Node finds `name` from a package in `folder`, or undefined if the lock file has none. */
function folderOf(packages: Packages, name: string, folder: string): string | undefined {
  const parents = folder
    .split('/node_modules/')
    .map((_, index, parts) => parts.slice(0, index + 1).join('/node_modules/'));
  return [...parents.reverse().map((parent) => `${parent}/node_modules/${name}`), `node_modules/${name}`].find(
    (path) => path in packages,
  );
}

const LOCKS = {
  'package-lock.json': {
    packages: lock.packages as unknown as Packages,
    programs: ['@biomejs/cli', '@esbuild/', '@typescript/', '@oxc-parser/binding'],
  },
  'hack/site/app/package-lock.json': {
    packages: siteLock.packages as unknown as Packages,
    programs: ['@pagefind/', '@esbuild/'],
  },
};

/** `npm ci` rejects a lock file without the packages of other platforms. */
for (const [file, { packages, programs }] of Object.entries(LOCKS))
  describe(file, () => {
    const installed = installedOf(packages);

    it('has the optional packages of all platforms, not only of the one that wrote it', () => {
      const missing = installed.flatMap(([folder, { optionalDependencies = {} }]) =>
        Object.keys(optionalDependencies).flatMap((name) =>
          folderOf(packages, name, folder) ? [] : [`${name} of ${folder}`],
        ),
      );
      assert.deepEqual(missing, []);
    });

    for (const program of programs)
      it(`has ${program} for Linux and macOS, on x64 and arm64`, () => {
        const platforms = installed.flatMap(([folder, { os = [], cpu = [] }]) =>
          folder.startsWith(`node_modules/${program}`)
            ? os.flatMap((name) => cpu.map((arch) => `${name} ${arch}`))
            : [],
        );
        const needed = ['darwin arm64', 'darwin x64', 'linux arm64', 'linux x64'];
        assert.deepEqual(
          needed.filter((platform) => !platforms.includes(platform)),
          [],
        );
      });

    it('pins each package by its SHA-512, and names no registry', () => {
      assert.deepEqual(
        installed.flatMap(([folder, { integrity, resolved }]) =>
          integrity?.startsWith('sha512-') && resolved === undefined ? [] : [folder],
        ),
        [],
      );
    });
  });
