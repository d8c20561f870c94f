import assert from 'node:assert/strict';
import { Option } from 'commander';
import { asCommanderArguments } from './kubectlArguments.ts';

const OPTIONS = [
  new Option('-n, --namespace <name>'),
  new Option('-w, --watch'),
  new Option('--insecure-skip-tls-verify'),
  new Option('--dry-run <strategy>'),
];

describe('the syntax of the flags of kubectl', () => {
  const rows: readonly (readonly [typed: string, read: string])[] = [
    ['status web -w', 'status web -w'],
    ['-n=shop', '--namespace=shop'],
    ['-n shop', '-n shop'],
    ['--namespace=', '--namespace='],
    ['--watch=true -w=true', '--watch -w'],
    ['--watch=false --insecure-skip-tls-verify=false', ''],
    ['--watch=maybe', '--watch=maybe'],
    ['replace a --dry-run', 'replace a --dry-run=client'],
    ['--dry-run=server', '--dry-run=server'],
    ['--unknown=true', '--unknown=true'],
    ['-w=true -- -w=true --dry-run', '-w -- -w=true --dry-run'],
  ];
  for (const [typed, read] of rows)
    it(`${typed} -> ${read}`, () => assert.equal(asCommanderArguments(typed.split(' '), OPTIONS).join(' '), read));
});
