import assert from 'node:assert/strict';
import type { ScriptSource } from '../ports/prerequisites.ts';
import { textTable } from '../testing/goldenTexts.ts';
import { tokensOf } from '../testing/powershellTokens.ts';
import { mergedUserData, readScript, secretsIn, type UserScript } from './userScript.ts';

const check = textTable('userScripts');

const userData: UserScript = { configMap: 'windows', key: 'user-data.ps1', field: 'nodeGroup.userData' };
const source = (change: Partial<ScriptSource>): ScriptSource => ({
  namespace: 'winpool-system',
  keys: [],
  text: undefined,
  isBinary: false,
  ...change,
});
const read = (text: string) => readScript(userData, source({ keys: [userData.key], text }));

describe('the script of a ConfigMap', () => {
  const scripts: readonly (readonly [what: string, text: string, script: string])[] = [
    ['as it is', 'Write-Host a\nWrite-Host b', 'Write-Host a\nWrite-Host b'],
    ['without a byte order mark', '\uFEFFWrite-Host a', 'Write-Host a'],
    ['with the line breaks of Unix', 'a\r\nb\rc\n\n', 'a\nb\nc'],
    ['without the tags of user data', ' <powershell>\r\nWrite-Host a\r\n</powershell>\r\n', 'Write-Host a'],
    ['without tags in capitals', '<PowerShell>a</POWERSHELL>', 'a'],
    ['with its first spaces, which a here-string may need', '  a', '  a'],
    ['with other characters than ASCII', 'Write-Host Grüße', 'Write-Host Grüße'],
  ];
  for (const [what, text, script] of scripts)
    it(`is read ${what}`, () => {
      assert.deepEqual(read(text), { script });
    });

  it('may have exit after the bootstrap, and is not refused if it was not parsed', () => {
    const script = { script: 'exit 0' };
    const after: UserScript = { ...userData, phase: 'AfterBootstrap' };
    assert.deepEqual(readScript(after, source({ text: 'exit 0', syntax: { exit: 1 } })), script);
    assert.deepEqual(read('exit 0'), script);
  });

  it('may have a syntax error', () => {
    assert.deepEqual(readScript(userData, source({ text: 'a {', syntax: { error: 1 } })), { script: 'a {' });
  });

  const problems: readonly (readonly [what: string, change: Partial<ScriptSource>, args: readonly string[]])[] = [
    [
      'the ConfigMap does not exist',
      { keys: undefined },
      ['winpool-system/windows', 'nodeGroup.userData', 'kubectl -n winpool-system'],
    ],
    [
      'it has other keys',
      { keys: ['a.ps1', 'b.ps1'] },
      ['winpool-system/windows', 'user-data.ps1', 'b.ps1', 'nodeGroup.userData.key'],
    ],
    ['it has no key', {}, ['winpool-system/windows', 'user-data.ps1', 'nodeGroup.userData.key']],
    ['the file was UTF-16', { isBinary: true }, ['user-data.ps1', 'winpool-system/windows', 'binaryData', 'UTF-8']],
    ['it is empty', { text: '\uFEFF \r\n' }, ['user-data.ps1', 'winpool-system/windows']],
    ['it has only tags', { text: '<powershell></powershell>' }, ['user-data.ps1', 'winpool-system/windows']],
    [
      'it has two scripts',
      { text: 'a</powershell><powershell>b' },
      ['user-data.ps1', 'winpool-system/windows', '</powershell>'],
    ],
    [
      'it runs at each start',
      { text: '<powershell>a</powershell><persist>true</persist>' },
      ['user-data.ps1', 'winpool-system/windows', '<powershell>'],
    ],
    [
      'it has a batch script',
      { text: '<script>dir</script>' },
      ['user-data.ps1', 'winpool-system/windows', '<script>'],
    ],
    ['it has a NUL', { text: 'a\0' }, ['user-data.ps1', 'winpool-system/windows', 'UTF-8']],
    [
      'it runs the bootstrap, too',
      { text: '& "$env:ProgramFiles\\Amazon\\EKS\\start-eksbootstrap.ps1"' },
      ['user-data.ps1', 'winpool-system/windows', 'Start-EKSBootstrap.ps1'],
    ],
    [
      'it ends PowerShell before the bootstrap',
      { text: 'a\nif (Test-Path C:\\done) { exit 0 }', syntax: { exit: 2 } },
      ['user-data.ps1', 'winpool-system/windows', 'line 2', 'return'],
    ],
    [
      'EC2 accepts less',
      { text: '#'.repeat(12_148) },
      ['user-data.ps1', 'winpool-system/windows', '12289', '12288', '16384', 'S3'],
    ],
    [
      'it has a megabyte',
      { text: '</powershell> '.repeat(75_000) },
      ['user-data.ps1', 'winpool-system/windows', '1050000', '16384', 'S3'],
    ],
  ];
  for (const [what, change, args] of problems) {
    const texts = () => Object.entries(readScript(userData, source(change))).map((entry) => entry.join(': '));
    check(`is not used if ${what}`, texts, [['problem', ...args]]);
  }

  it('may be as long as EC2 and EKS leave room for', () => {
    assert.deepEqual(Object.keys(read('#'.repeat(12_147))), ['script']);
  });
});

describe('user data that EKS merges', () => {
  it('has the commands within the tags of EC2', () => {
    assert.equal(
      mergedUserData("Write-Host 'a'"),
      "<powershell>\n$ErrorActionPreference = 'Stop'\n$before = [scriptblock]::Create('Write-Host ''a''')\n$ErrorActionPreference = 'Continue'\n& $before\n</powershell>\n",
    );
  });

  it('has only ASCII, whatever the script has', () => {
    const text = mergedUserData('Write-Host ‘Grüße’');
    const { code, strings } = tokensOf(text);
    assert.equal(
      code,
      '<powershell>\n$ErrorActionPreference = ?\n$before = [scriptblock]::Create([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String(?)))\n$ErrorActionPreference = ?\n& $before\n</powershell>\n',
    );
    assert.equal(Buffer.from(strings[1] ?? '', 'base64').toString(), 'Write-Host ‘Grüße’');
  });
});

describe('what looks like a secret', () => {
  const PASSWORD = ['line 1 (a password)'];
  const rows: readonly (readonly [line: string, found: readonly string[]])[] = [
    ['$env:AWS_ACCESS_KEY_ID = "AKIAIOSFODNN7EXAMPLE"', ['line 1 (an AWS access key)']],
    ['Write-Host a\n-----BEGIN RSA PRIVATE KEY-----', ['line 2 (a private key)']],
    ['-----BEGIN PRIVATE KEY-----', ['line 1 (a private key)']],
    ['-----BEGIN CERTIFICATE-----', []],
    ['git clone https://ghp_0123456789abcdefghij@example.com', ['line 1 (a token)']],
    ['$password = "P@ssw0rd"', PASSWORD],
    ["$dbPassword='hunter22'", PASSWORD],
    ["@{ 'Password' = 'hunter22' }", PASSWORD],
    ['"apiKey": "0123456789"', PASSWORD],
    ['net user admin P@ssw0rd /add', PASSWORD],
    ['net user admin /active:no', []],
    ['ConvertTo-SecureString "P@ssw0rd" -AsPlainText -Force', PASSWORD],
    ['ConvertTo-SecureString $secret.password -AsPlainText -Force', []],
    ["$secret = Get-SECSecretValue -SecretId 'domain'", []],
    ["$password = (Get-SSMParameter -Name '/domain/password' -WithDecryption $true).Value", []],
    ['$password = "$($secret.password)"', []],
    ['Add-Computer -DomainName example.com -Credential $credential', []],
  ];
  for (const [line, found] of rows)
    it(`is ${found.length > 0 ? found.join() : 'not'} in: ${line.replace('\n', ' ')}`, () => {
      assert.deepEqual(secretsIn(line), found);
    });

  it('is found in a script of the largest size without delay', () => {
    for (const text of ['password'.repeat(2048), "password ='".repeat(1489), 'net user '.repeat(1820)]) {
      const start = performance.now();
      secretsIn(text);
      assert.ok(performance.now() - start < 500, text.slice(0, 20));
    }
  });
});
