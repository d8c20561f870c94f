import assert from 'node:assert/strict';
import { createReadSyntax } from './scriptSyntax.ts';

describe('what is found in the script of a ConfigMap', () => {
  it('has the lines of the text, with its tags', async () => {
    const read = createReadSyntax();
    assert.deepEqual(await read('a\r\nexit 1\r\n'), { exit: 2 });
    assert.deepEqual(await read('\uFEFF\n<powershell>\nexit 1\nif ($a) {\n</powershell>\n'), { exit: 3, error: 4 });
    assert.deepEqual(await read('<powershell>exit</powershell>'), { exit: 1 });
    assert.deepEqual(await read('Write-Host a'), {});
  });

  it('is found once for each text, which is parsed without its tags', async () => {
    const parsed: string[] = [];
    const read = createReadSyntax(async () => (script) => {
      parsed.push(script);
      return {};
    });
    await Promise.all(['a', '<powershell>\nb\n</powershell>', 'a'].map(read));
    await read('a');
    assert.deepEqual(parsed, ['a', 'b']);
  });

  it('is unknown if the text is larger than EC2 accepts, and such a text is not parsed', async () => {
    const read = createReadSyntax(() => assert.fail('loads the grammar'));
    assert.equal(await read('ü'.repeat(8193)), undefined);
  });

  it('is unknown if the grammar cannot be loaded, or fails', async () => {
    const unloaded = createReadSyntax(() => Promise.reject(new Error('no such file')));
    assert.equal(await unloaded('exit'), undefined);
    const failing = createReadSyntax(async () => () => assert.fail('memory access out of bounds'));
    assert.equal(await failing('exit'), undefined);
  });
});
