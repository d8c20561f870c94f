import { adviceTable, planned, withMachine } from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';
import { unasked } from '../../../testing/prerequisites.ts';

const testAdvice = adviceTable('advice/userData');

const userData = { configMap: 'windows', key: 'a.ps1', phase: 'BeforeBootstrap' } as const;
const machine = { userData, disk: { sizeGiB: 100, type: 'gp3', encrypted: true } } as const;
/** A pool with this script. */
const withScript = (text: string | undefined) =>
  withMachine(machine, {}, { userData: known({ namespace: 'winpool-system', keys: [], text, isBinary: false }) });

describe('advice about secrets in user data', () => {
  testAdvice([
    ['no script', planned(), []],
    ['a script without secrets', withScript("$secret = Get-SECSecretValue -SecretId 'domain'"), []],
    ['a script that does not exist', withScript(undefined), []],
    ['a script that cannot be read', withMachine(machine, {}, { userData: unasked() }), []],
    [
      'passwords and keys',
      withScript(`<powershell>\n$password = 'hunter22'\n\n# AKIAIOSFODNN7EXAMPLE\n</powershell>`),
      [['SecretInUserData', 'a.ps1', 'winpool-system/windows', 'Get-SECSecretValue']],
    ],
    [
      'many secrets',
      withScript('password = "hunter22"\n'.repeat(9)),
      [['SecretInUserData', 'a.ps1', 'winpool-system/windows', '6 more', 'Get-SECSecretValue']],
    ],
  ]);
});
