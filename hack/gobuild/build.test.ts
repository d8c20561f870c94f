import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { controlPlaneModule, kubernetesStamps } from '../controlplane/binaries.ts';
import { checkGo, goIsEnough, ldflags, parseGoMod, readGoMod } from './build.ts';
import { parseVersion } from './program.ts';

describe('versions', () => {
  const printed: readonly [string, string | undefined][] = [
    ['Kubernetes v1.36.3', '1.36.3'],
    ['Client Version: v1.36.3\nKustomize Version: v5.8.1\n', '1.36.3'],
    ['etcd Version: 3.6.8\nGit SHA: Not provided (use ./build instead of go build)\nGo Version: go1.26.8', '3.6.8'],
    ['kwok version v0.8.0 go1.26.8 (linux/amd64)', '0.8.0'],
    ['Kubernetes v1.37.0-alpha.1', '1.37.0'],
    ['', undefined],
    ['version unknown', undefined],
  ];
  for (const [text, version] of printed) {
    it(`reads ${version} from ${JSON.stringify(text)}`, () => assert.equal(parseVersion(text), version));
  }
});

describe('Go', () => {
  const need = '1.26.0';
  const table: readonly [string, boolean][] = [
    ['go1.26.0', true],
    ['go1.26.8', true],
    ['go1.27rc1', true],
    ['go2.0.0', true],
    ['go1.26rc2', true],
    ['go1.25.9', false],
    ['go1.9.7', false],
    ['devel', false],
  ];
  for (const [have, enough] of table) {
    it(`${have} is ${enough ? 'new enough' : 'too old'} for ${need}`, () =>
      assert.equal(goIsEnough(have, need), enough));
  }

  it('is compared by number, part by part', () => {
    const version = fc.tuple(fc.nat(30), fc.nat(30), fc.nat(30));
    fc.assert(
      fc.property(version, version, (a, b) => {
        const order = a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
        assert.equal(goIsEnough(`go${a.join('.')}`, b.join('.')), order >= 0);
      }),
    );
  });

  describe('the installed Go', () => {
    const path = process.env.PATH;
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'windowspool-go-'));
      process.env.PATH = folder;
    });
    afterEach(async () => {
      process.env.PATH = path;
      await rm(folder, { recursive: true });
    });

    it('is requested in one sentence if it is missing', async () => {
      await assert.rejects(
        checkGo(need, 'the local Kubernetes'),
        /the local Kubernetes\. Install Go 1\.26\.0 .*KUBEBUILDER_ASSETS\.$/,
      );
    });

    it('is requested in one sentence if it is too old', async () => {
      await writeFile(join(folder, 'go'), '#!/bin/sh\necho go1.19.8\n', { mode: 0o755 });
      await assert.rejects(checkGo(need, 'the local Kubernetes'), /^Error: Go is 1\.19\.8\b.* Go 1\.26\.0\b/);
    });

    it('is accepted if it is new enough', async () => {
      await writeFile(join(folder, 'go'), '#!/bin/sh\necho go1.26.8\n', { mode: 0o755 });
      await checkGo(need, 'the local Kubernetes');
    });
  });
});

describe('go.mod', () => {
  const text = `module x

go 1.26.0

require (
	k8s.io/kubernetes v1.36.3 // indirect
)
require helm.sh/helm/v4 v4.2.4
replace k8s.io/api => k8s.io/api v0.36.3
`;

  it('has the required version of Go and the pinned versions', () => {
    const { go, versionOf } = parseGoMod(text, 'its go.mod');
    const versions = ['k8s.io/kubernetes', 'helm.sh/helm/v4'].map(versionOf);
    assert.deepEqual([go, ...versions], ['1.26.0', 'v1.36.3', 'v4.2.4']);
    assert.throws(() => versionOf('k8s.io/api'), { message: 'its go.mod names no version of k8s.io/api.' });
    assert.throws(() => parseGoMod('module x\n', 'its go.mod'), { message: 'its go.mod names no Go version.' });
  });

  it('of the control plane builds the expected minor version of Kubernetes', async () => {
    const version = (await readGoMod(controlPlaneModule)).versionOf('k8s.io/kubernetes');
    assert.match(version, /^v1\.36\.\d+$/);
    const [, major, minor] = kubernetesStamps(version);
    assert.deepEqual(
      [major, minor],
      ['k8s.io/component-base/version.gitMajor=1', 'k8s.io/component-base/version.gitMinor=36'],
    );
  });

  it('sets the stamps of a program with linker flags', () => {
    const goMod = parseGoMod(text, 'its go.mod');
    assert.equal(ldflags({}, goMod), '-s -w');
    const stamps = (versionOf: (module: string) => string) => [`a.b=${versionOf('helm.sh/helm/v4')}`, 'c.d=e'];
    assert.equal(ldflags({ stamps }, goMod), '-s -w -X a.b=v4.2.4 -X c.d=e');
  });
});
