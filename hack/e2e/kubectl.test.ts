import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kubectl } from './kubectl.ts';

const never = new AbortController().signal;

describe('the kubectl of a run', () => {
  let folder: string;
  let kubectl: Kubectl;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'winpool-kubectl-'));
    const program = join(folder, 'kubectl');
    const config = { 'current-context': "jane's", clusters: [{ name: 'here' }] };
    await writeFile(
      program,
      `#!/bin/sh\ncase "$*" in *"config view"*) echo '${JSON.stringify(config).replace("'", `'\\''`)}';; *) echo "$*";; esac\n`,
    );
    await chmod(program, 0o700);
    kubectl = new Kubectl(program);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('uses the context that was current at the start, in a file of the caller', async () => {
    const path = join(folder, 'kubeconfig');
    const config = await kubectl.pin(path, never);
    assert.equal(config['current-context'], "jane's");
    assert.deepEqual(JSON.parse(await readFile(path, 'utf8')), config);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.equal(await kubectl.run(['get', 'nodes']), `--kubeconfig=${path} get nodes\n`);
  });

  it('rejects commands before that', async () => {
    await assert.rejects(kubectl.run(['get', 'nodes']), /before its kubeconfig is pinned/);
    assert.throws(() => kubectl.follow(['get', 'nodes']), /before its kubeconfig is pinned/);
  });

  it('prints commands with the context', async () => {
    await kubectl.pin(join(folder, 'kubeconfig'), never);
    assert.equal(
      kubectl.commandLine(['patch', 'pool', '--patch={"a":null}']),
      `kubectl --context 'jane'\\''s' patch pool '--patch={"a":null}'`,
    );
  });
});
