import assert from 'node:assert/strict';
import { readCommand } from './settings.ts';

const GIVEN = {
  E2E_ACCOUNT: '111122223333',
  CLUSTER_NAME: 'my-cluster',
  AWS_REGION: 'eu-west-1',
  NODE_ROLE_NAME: 'windows-nodes',
  SUBNETS: 'subnet-0a1, subnet-0b2',
};

describe('the settings of make e2e', () => {
  it('are read from the environment, with defaults', () => {
    assert.deepEqual(readCommand([], GIVEN), {
      kind: 'run',
      settings: {
        account: '111122223333',
        clusterName: 'my-cluster',
        region: 'eu-west-1',
        nodeRole: 'windows-nodes',
        subnets: ['subnet-0a1', 'subnet-0b2'],
        windowsVersion: 'Windows2022',
        instanceType: 'm5.large',
        operatorProfile: undefined,
        operatorFlags: [],
        timeoutFactor: 1,
        kubectl: 'kubectl',
        report: 'build/e2e.json',
        readOnly: false,
        machine: false,
        confirmed: false,
      },
    });
  });

  it('can be flags, too', () => {
    const command = readCommand(['--yes', '--read-only'], GIVEN);
    assert.partialDeepStrictEqual(command, { settings: { confirmed: true, readOnly: true } });
    assert.partialDeepStrictEqual(readCommand(['--machine'], GIVEN), { settings: { machine: true } });
  });

  it('reject a read-only run with a pool', () => {
    const command = readCommand(['--read-only'], { ...GIVEN, E2E_MACHINE: '1' });
    assert.match(command.kind === 'refuse' ? command.errors.join() : '', /^E2E_READ_ONLY and E2E_MACHINE .* Unset one/);
  });

  it('require neither role nor subnets for a read-only run', () => {
    const { NODE_ROLE_NAME: _, SUBNETS: __, ...rest } = GIVEN;
    const command = readCommand([], { ...rest, E2E_READ_ONLY: '1' });
    assert.partialDeepStrictEqual(command, { kind: 'run', settings: { nodeRole: '', subnets: [] } });
  });

  it('accept the role as NODE_ROLE', () => {
    const { NODE_ROLE_NAME: _, ...rest } = GIVEN;
    const role = 'arn:aws:iam::111122223333:role/windows-nodes';
    assert.partialDeepStrictEqual(readCommand([], { ...rest, NODE_ROLE: role }), { settings: { nodeRole: role } });
  });

  it('have a description of every variable', () => {
    const command = readCommand(['--help'], {});
    assert.equal(command.kind, 'print');
    for (const name of Object.keys(GIVEN))
      assert.match(command.kind === 'print' ? command.text : '', new RegExp(`  ${name} `));
  });

  it('are all named with the remedy if they are missing', () => {
    const command = readCommand([], {});
    assert.equal(command.kind, 'refuse');
    const errors = command.kind === 'refuse' ? command.errors : [];
    assert.deepEqual(
      errors.map((error) => error.split(' ')[0]),
      ['E2E_ACCOUNT', 'CLUSTER_NAME', 'AWS_REGION', 'NODE_ROLE_NAME', 'SUBNETS'],
    );
    for (const error of errors) assert.match(error, /^(\w+) is not set\. .* Set it: export \1=/);
  });

  const wrong: readonly [name: string, value: string, form: RegExp][] = [
    ['E2E_ACCOUNT', '1111-2222-3333', /^E2E_ACCOUNT is '1111-2222-3333': must be 12 digits/],
    ['CLUSTER_NAME', '-a', /^CLUSTER_NAME is '-a': must be the name of an EKS cluster\.$/],
    ['AWS_REGION', 'ireland', /^AWS_REGION is 'ireland': must be a region/],
    ['NODE_ROLE_NAME', 'a b', /^NODE_ROLE_NAME is 'a b': must be/],
    ['SUBNETS', 'subnet-0a1,vpc-1', /^SUBNETS is 'subnet-0a1,vpc-1': must be subnet IDs/],
    ['WINDOWS_VERSION', '2022', /^WINDOWS_VERSION is '2022': must be .*\bWindows2025\.$/],
    ['INSTANCE_TYPE', 'large', /^INSTANCE_TYPE is 'large': must be an instance type/],
    ['E2E_TIMEOUT_FACTOR', '0', /^E2E_TIMEOUT_FACTOR is '0': .* greater than 0\b.* 3\.$/],
    ['E2E_TIMEOUT_FACTOR', '4', /^E2E_TIMEOUT_FACTOR is '4': .* greater than 0\b.* 3\.$/],
    ['E2E_CONFIRM', 'maybe', /^E2E_CONFIRM is 'maybe': must be 1 or yes, or unset\.$/],
  ];
  for (const [name, value, form] of wrong)
    it(`reject ${name}=${value}`, () => {
      const command = readCommand([], { ...GIVEN, [name]: value });
      assert.equal(command.kind, 'refuse');
      assert.match(command.kind === 'refuse' ? command.errors.join('\n') : '', form);
    });

  it('reject an unknown flag', () => {
    const command = readCommand(['--dry-run'], GIVEN);
    assert.match(command.kind === 'refuse' ? command.errors.join() : '', /--dry-run.*See --help/s);
  });
});
