import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Parser } from 'web-tree-sitter';
import { createParser, syntaxOf } from './powershellGrammar.ts';

/** Scripts in which nothing is to be found, by what they are. */
const VALID: Readonly<Record<string, string>> = {
  'a Windows feature': 'Add-WindowsFeature Web-Server, NET-Framework-45-Core -IncludeManagementTools',
  'a desired state configuration': `Configuration Web {
  Import-DscResource -ModuleName PSDesiredStateConfiguration
  Node 'localhost' {
    WindowsFeature IIS {
      Ensure = 'Present'
      Name = 'Web-Server'
    }
    File Site { DestinationPath = 'C:\\site'; Contents = "a"; DependsOn = '[WindowsFeature]IIS' }
  }
}
Web -OutputPath C:\\dsc
Start-DscConfiguration -Path C:\\dsc -Wait -Verbose -Force`,
  'a download with splatting': `$download = @{
  Uri = 'https://example.com/agent.msi'
  OutFile = "$env:TEMP\\agent.msi"
  UseBasicParsing = $true
}
Invoke-WebRequest @download
Test-FileChecksum $download.OutFile -ExpectedSHA256Sum '00'
Start-Process msiexec.exe -ArgumentList '/i', $download.OutFile, '/qn' -Wait -NoNewWindow`,
  'a class and an enumeration': `class Agent {
  [string]$Name
  hidden [int]$Port = 1
  Agent([string]$name) { $this.Name = $name }
  [string] ToString() { return "$($this.Name):$($this.Port)" }
}
enum Color { Red = 1; Green }`,
  'errors that are caught': `try {
  Start-Service agent -ErrorAction Stop
} catch [System.Net.WebException], [System.IO.IOException] {
  Write-Error $_.Exception.Message
  throw
} finally {
  Stop-Transcript
}`,
  'variables of another session': 'Invoke-Command -ComputerName a -ScriptBlock { Get-Item $using:path; "$using:name" }',
  'a pipeline over lines': "Get-Service |\n  Where-Object { $_.Status -eq 'Running' } |\n  Sort-Object Name",
  'here-strings with quotation marks': `$a = @"\n"quoted" $($b.c)\n"@\n$d = @'\n'q' # {\n'@ | Out-File a`,
  'program text in a here-string': `Add-Type -TypeDefinition @"
public class A { public static void B() { if (1 == 1) { System.Environment.Exit(1); } } }
"@`,
  'a function with attributes': `#Requires -Version 5.1
function Get-Agent {
  [CmdletBinding()]
  param([Parameter(Mandatory = $true, Position = 0)][ValidateSet('a', 'b')][string[]] $Name, [switch] $Force)
  process { foreach ($n in $Name) { $n } }
}`,
  'options of other programs':
    '& "$env:ProgramFiles\\agent\\agent.exe" --site=1 --verbose\nnetsh advfirewall set allprofiles state off',
  'strings with brackets': `Write-Host '{ (' "[ $a"`,
  'escaped quotation marks': '"a `"b`" `$c"; \'it\'\'s\'; "a ""b"""',
  'units and numbers': '$a = 1KB + 0x1F + 1.5e3 + 10GB',
  'TLS 1.2':
    '[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12',
  'the metadata of the instance':
    "Invoke-RestMethod -Uri http://169.254.169.254/latest/meta-data/instance-id -Headers @{'X-aws-ec2-metadata-token' = $t}",
  'typographic quotation marks and dashes': 'Write-Host “a; exit 0 {” –NoNewline ‘it’’s’',
  nothing: '',
};

/** Scripts in which the first `exit` is a command, with its line. */
const EXITS: readonly (readonly [script: string, line: number])[] = [
  ['exit', 1],
  ['a\nEXIT $LASTEXITCODE', 2],
  ['if (Test-Path C:\\done) { exit 0 }', 1],
  ['if (Test-Path C:\\done)\n{\n  exit 0\n}', 3],
  ['Write-Host "#"; exit 1', 1],
  ['Write-Host a#b; exit 1', 1],
  ['<# <# exit #>\nexit(1)', 2],
  ['function Stop-All {\n  exit 1\n}', 2],
  ['$stop = { exit 1 }', 1],
  ['1..3 | ForEach-Object { exit $_ }', 1],
  ['switch ($a) {\n  1 { exit 1 }\n}', 2],
  ['try { a } catch { exit 1 }', 1],
  ['$a = @"\nexit 0\n$(exit 3)\n"@', 3],
  ["$a = 'it''s'; exit", 1],
  ['exit # done', 1],
];

const NO_EXITS: readonly string[] = [
  'Write-Host exit',
  'Write-Host \'exit\'; "\nexit\n"',
  '# exit\n<# a\nexit\n#>\nb',
  "$a = @'\nexit 0\n'@",
  "Set-Content -Path a.cmd -Value @'\n@echo off\nexit /b 0\n'@ -Encoding ASCII",
  'cmd /c exit 1',
  'cmd.exe /c "exit 1"',
  '$exit = 1; $a.exit(); @{ exit = 1 }',
  'Exit-PSSession',
  'a-exit',
  'Stop-All -exit',
];

/** Scripts that PowerShell rejects, with the line of the first error. */
const ERRORS: readonly (readonly [what: string, script: string, line: number])[] = [
  ['a brace without its end', 'a\nif ($x) {\n  b\nc', 2],
  ['a brace without its beginning', 'a\nb\n}\nc', 3],
  ['a parenthesis without its end', 'a\n$x = (1 + 2\nb\nc', 2],
  ['a string without its end', 'a\nWrite-Host "b\nc\nd', 2],
  ['a literal string without its end', "a\nWrite-Host 'b\nc\nd", 2],
  ['a typographic string without its end', 'a\nWrite-Host “b\nc\nd', 2],
  ['a comment without its end', 'a\n<# b\nexit\nc', 2],
  ['a here-string without its end', "a\n$x = @'\nb\nexit\n", 2],
  ['an indented end of a here-string', "a\n$x = @'\nb\n  '@\nc", 2],
  ['text after the beginning of a here-string', "a\n$x = @'b\n'@", 2],
];

describe('the grammar of PowerShell', () => {
  let parser: Parser;
  before(async () => {
    parser = await createParser();
  });

  for (const [what, script] of Object.entries(VALID))
    it(`finds nothing in ${what}`, () => assert.deepEqual(syntaxOf(parser, script), {}));

  for (const [script, line] of EXITS)
    it(`finds exit in line ${line} of: ${JSON.stringify(script)}`, () =>
      assert.deepEqual(syntaxOf(parser, script), { exit: line }));

  for (const script of NO_EXITS)
    it(`finds no exit in: ${JSON.stringify(script)}`, () => assert.deepEqual(syntaxOf(parser, script), {}));

  for (const [what, script, line] of ERRORS)
    it(`finds ${what}`, () => assert.deepEqual(syntaxOf(parser, script), { error: line }));

  it('does not report what it may not know: errors within a command, where exit is still found', () => {
    for (const script of [
      'switch ($a) { 1 { b } default { c } }',
      '@(1, 2).ForEach({ $_ })',
      ':a foreach ($b in $c) { continue a }',
    ])
      assert.deepEqual(syntaxOf(parser, script), {}, script);
    assert.deepEqual(syntaxOf(parser, 'switch ($a) { 1 { b } default { c } }\nexit 1'), { exit: 2 });
  });

  it('knows nothing of a script that takes too long, and reads the next one from its beginning', () => {
    assert.equal(syntaxOf(parser, 'a\n'.repeat(8192), -1), undefined);
    assert.deepEqual(syntaxOf(parser, 'exit'), { exit: 1 });
  });

  it('reads scripts of the largest size in bounded time and memory', async function () {
    this.timeout(120_000);
    // A process of its own: the memory is that of the compiler of WebAssembly, in its threads.
    const program = `
      const { createParser, syntaxOf } = await import(${JSON.stringify(import.meta.resolve('./powershellGrammar.ts'))});
      const parser = await createParser();
      const before = process.resourceUsage().maxRSS;
      const start = process.cpuUsage();
      let scripts = 0;
      for (const [open, close = ''] of [['(', ')'], ['{', '}'], ['['], ['"$('], ['@{a='], ['<#'], ["@'\\n"], ['if(1){exit;'], ['a;'], ['1+']]) {
        const times = Math.floor(16_384 / (open + close).length);
        syntaxOf(parser, open.repeat(times) + close.repeat(times), 60_000);
        scripts += 1;
      }
      const { user, system } = process.cpuUsage(start);
      console.log(JSON.stringify({ megabytes: (process.resourceUsage().maxRSS - before) / 1024, ms: (user + system) / 1000 / scripts }));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
    const { megabytes, ms } = JSON.parse(stdout);
    assert.ok(megabytes < 100, `${megabytes} MB`);
    assert.ok(ms < 500, `${ms} ms of each script`);
  });
});
