import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../hack/controlplane/command.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const TIMEOUT_MS = 60_000;
/** More than a pipe holds: https://man7.org/linux/man-pages/man7/pipe.7.html */
const WORKLOADS = 4_000;

describe('the process of kubectl windowspool', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windowspool-main-'));
  const file = join(folder, 'all.json');
  const env = { ...process.env, KUBECONFIG: join(folder, 'none') };
  before(() => {
    const items = Array.from({ length: WORKLOADS }, (_, index) => ({
      kind: 'Pod',
      metadata: { name: `pod-${index}` },
      spec: { containers: [] },
    }));
    writeFileSync(file, JSON.stringify({ kind: 'List', items }));
  });
  after(() => rmSync(folder, { recursive: true }));

  it('writes all of its output to a pipe before it exits', async () => {
    const { stdout, code } = await runCommand(process.execPath, [MAIN, 'lint', file, '--output=json'], {
      env,
      timeoutMs: TIMEOUT_MS,
    });
    assert.deepEqual([JSON.parse(stdout).length, code], [WORKLOADS, 0]);
  });

  it('ends without an error when the reader of a pipe stops early', async () => {
    const child = spawn(process.execPath, [MAIN, 'lint', file, '--output=json'], { env });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdout.once('data', () => child.stdout.destroy());
    const [code, signal] = await once(child, 'close', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    assert.deepEqual([code, signal, stderr.replace(/^SKIP.*\n(?: .*\n)*/, '')], [0, null, '']);
  });
});
