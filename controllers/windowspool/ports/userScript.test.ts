import assert from 'node:assert/strict';
import { earlyEndIn, linuxFormatOf, restartIn } from './userScript.ts';

describe('user data for Linux', () => {
  const rows: readonly (readonly [text: string, format: string | undefined])[] = [
    ['', undefined],
    ['Write-Host a', undefined],
    ['# comment\nWrite-Host a', undefined],
    ['#!/usr/bin/env pwsh\nWrite-Host a', undefined],
    ['<powershell>\nWrite-Host "MIME-Version: 1.0"\n</powershell>', undefined],
    ['# not /etc/eks/bootstrap.sh', undefined],
    ['#include common functions\nWrite-Host a', undefined],
    ['#includes the agent\nWrite-Host a', undefined],
    ["<powershell>\n$script = @'\n/etc/eks/bootstrap.sh\n'@\n</powershell>", undefined],
    ['<#\n/etc/eks/bootstrap.sh is for Linux\n#>', undefined],
    ["Set-Content linux.sh '\n/etc/eks/bootstrap.sh\n'", undefined],
    ['MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n--//', 'a MIME document'],
    ['Content-Type: multipart/mixed; boundary="//"\nMIME-Version: 1.0', 'a MIME document'],
    ['\uFEFF\n#!/bin/bash\nset -ex', 'a shell script'],
    ['<powershell>\n#! /bin/sh\n</powershell>', 'a shell script'],
    ['#cloud-config\nruncmd: []', 'a cloud-init configuration'],
    ['#include\nhttps://example.com/a', 'a cloud-init configuration'],
    ['#include https://example.com/a', 'a cloud-init configuration'],
    ['#include-once\nhttps://example.com/a', 'a cloud-init configuration'],
    ['---\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig', 'a NodeConfig of nodeadm'],
    ['[settings.kubernetes.system-reserved]\ncpu = "10m"', 'a configuration of Bottlerocket'],
    ['set -ex\nsudo /etc/eks/bootstrap.sh demo', 'a script that calls the bootstrap of Linux (/etc/eks/bootstrap.sh)'],
  ];
  for (const [text, format] of rows)
    it(`is ${format ?? 'not'} ${JSON.stringify(text)}`, () => assert.equal(linuxFormatOf(text), format));
});

describe('a restart in a script', () => {
  const rows: readonly (readonly [script: string, line: number | undefined])[] = [
    ['Restart-Computer', 1],
    ['Install-Agent\nif ($needsRestart) { restart-computer -Force }', 2],
    ['shutdown /r /t 0', 1],
    ['& "$env:windir\\System32\\shutdown.exe" -t 0 -r', 1],
    ['Add-Computer -DomainName corp.example.com -Credential $credential -Restart', 1],
    ['Install-WindowsFeature Containers -Restart', 1],
    ['Add-Computer -DomainName corp.example.com -Credential $credential', undefined],
    ['# Restart-Computer', undefined],
    ['<#\nRestart-Computer\n#>', undefined],
    ['<#\nRestart-Computer\n#>\nRestart-Computer', 4],
    ["$later = @'\nRestart-Computer\n'@", 2],
    ['Install-Agent # shutdown /r is not needed', undefined],
    ['shutdown /a', undefined],
    ['Restart-Service docker', undefined],
    ['Install-WindowsFeature Containers -Restart:$false', undefined],
    ['', undefined],
  ];
  for (const [script, line] of rows)
    it(`is ${line === undefined ? 'not in' : `in line ${line} of`} ${JSON.stringify(script)}`, () =>
      assert.equal(restartIn(script), line));

  it('is found in a script of the largest size without delay', () => {
    const start = performance.now();
    for (const text of ['shutdown ', 'Add-Computer ', '/r ', '#', '<#', "@'\n", '"', '$a', 'Ab-'])
      for (const find of [restartIn, earlyEndIn, linuxFormatOf]) find(text.repeat(16_384 / text.length));
    assert.ok(performance.now() - start < 1_000);
  });
});

describe('user data of a launch template', () => {
  const rows: readonly (readonly [text: string, end: ReturnType<typeof earlyEndIn>])[] = [
    ['<powershell>\nWrite-Host a\nexit 0\n</powershell>', { command: 'exit', line: 3 }],
    ['<powershell>\r\nexit\r\n</powershell>', { command: 'exit', line: 2 }],
    ['Return', { command: 'return', line: 1 }],
    ['Restart-Computer\nexit', { command: 'a restart', line: 1 }],
    ['exit\nRestart-Computer', { command: 'exit', line: 1 }],
    ['if ($failed) {\n  exit 1\n}', undefined],
    ['exitcode\nWrite-Host exit', undefined],
    ['Exit-PSSession', undefined],
    ['Return-Foo', undefined],
    ['function Get-One {\nreturn 1\n}', undefined],
    ['function Get-One {\nreturn 1\n}\nreturn', { command: 'return', line: 4 }],
    ['try {\nRestart-Service a\n} catch {\nexit 1\n}', undefined],
    ["Write-Host '{' # {\nexit", { command: 'exit', line: 2 }],
    ["Set-Content a.ps1 @'\r\nexit\r\n'@\r\nexit", { command: 'exit', line: 4 }],
    ['<#\nexit\n#>', undefined],
    ['}\nexit', { command: 'exit', line: 2 }],
    ['', undefined],
  ];
  for (const [text, end] of rows)
    it(`${end ? `ends with ${end.command}` : 'does not end early'}: ${JSON.stringify(text)}`, () =>
      assert.deepEqual(earlyEndIn(text), end));
});
