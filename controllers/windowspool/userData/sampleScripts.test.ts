import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Node } from 'web-tree-sitter';
import { restartIn } from '../ports/userScript.ts';
import { powershellParser } from '../testing/powershellGrammar.ts';
import { mergedUserData, readScript, secretsIn, type UserScript } from './userScript.ts';

const SAMPLES = fileURLToPath(new URL('../../../config/samples/user-data/', import.meta.url));
const userData: UserScript = { configMap: 'windows-nodes', key: 'user-data.ps1', field: 'nodeGroup.userData' };

describe('the scripts in config/samples/user-data', () => {
  let parse: (userData: string) => Node;
  before(async () => {
    parse = await powershellParser();
  });

  const names = globSync('*.ps1', { cwd: SAMPLES }).sort();

  it('exist', () => assert.deepEqual(names, ['ca-bundle.ps1', 'proxy.ps1', 'registry-mirror.ps1']));

  for (const name of names)
    it(`${name} is PowerShell that nodes can run before they join`, () => {
      const text = readFileSync(`${SAMPLES}${name}`, 'utf8');
      const source = { namespace: 'winpool-system', keys: [userData.key], text, isBinary: false };
      const read = readScript(userData, source);
      assert.ok('script' in read, JSON.stringify(read));
      assert.equal(parse(mergedUserData(read.script)).hasError, false);
      assert.deepEqual([restartIn(read.script), secretsIn(read.script)], [undefined, []]);
    });
});
