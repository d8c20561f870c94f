import assert from 'node:assert/strict';
import { runCommand } from '../../hack/controlplane/command.ts';
import { toolPath } from '../../hack/tools/tools.ts';

describe('the tools of the tests', function () {
  this.timeout(600_000);
  const say = (line: string) => console.log(`    ${line}`);

  it('include a helm with a version', async () => {
    const { stdout } = await runCommand(await toolPath('helm', say), ['version', '--short'], { timeoutMs: 30_000 });
    assert.match(stdout, /^v4\.\d+\.\d+/);
  });
});
