import assert from 'node:assert/strict';
import { linuxFormatOf } from './userScript.ts';

describe('user data for Linux', () => {
  const rows: readonly (readonly [text: string, format: string | undefined])[] = [
    ['', undefined],
    ['Write-Host a', undefined],
    ['# comment\nWrite-Host a', undefined],
    ['#!/usr/bin/env pwsh\nWrite-Host a', undefined],
    ['<powershell>\nWrite-Host "MIME-Version: 1.0"\n</powershell>', undefined],
    ['# not /etc/eks/bootstrap.sh', undefined],
    ['MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n--//', 'a MIME document'],
    ['Content-Type: multipart/mixed; boundary="//"\nMIME-Version: 1.0', 'a MIME document'],
    ['\uFEFF\n#!/bin/bash\nset -ex', 'a shell script'],
    ['<powershell>\n#! /bin/sh\n</powershell>', 'a shell script'],
    ['#cloud-config\nruncmd: []', 'a cloud-init configuration'],
    ['---\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig', 'a NodeConfig of nodeadm'],
    ['[settings.kubernetes.system-reserved]\ncpu = "10m"', 'a configuration of Bottlerocket'],
    ['set -ex\nsudo /etc/eks/bootstrap.sh demo', 'a script that calls the bootstrap of Linux (/etc/eks/bootstrap.sh)'],
  ];
  for (const [text, format] of rows)
    it(`is ${format ?? 'not'} ${JSON.stringify(text)}`, () => assert.equal(linuxFormatOf(text), format));
});
