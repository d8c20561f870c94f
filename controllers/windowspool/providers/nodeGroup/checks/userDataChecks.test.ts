import type { ScriptSource } from '../../../ports/prerequisites.ts';
import { adviceTable, planned, withLaunchSettings } from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';
import { checkTable } from '../../../testing/checkTable.ts';
import { launchSettingsPool } from '../../../testing/launchSettingsScenes.ts';
import { sampleFacts, sampleInput, unasked } from '../../../testing/prerequisites.ts';

const testChecks = checkTable('checks/userDataChecks');

/** The input for a pool with a script in this ConfigMap. */
const scriptInput = (
  source: Partial<ScriptSource>,
  phase: 'BeforeBootstrap' | 'AfterBootstrap' = 'BeforeBootstrap',
) => {
  const userData = { configMap: 'windows', key: 'a.ps1', phase };
  const found = { namespace: 'winpool-system', keys: undefined, text: undefined, isBinary: false, ...source };
  const facts = sampleFacts({ userData: known(found) });
  return sampleInput({ spec: launchSettingsPool({ userData }).spec, facts });
};

describe('the checks of the script of nodeGroup.userData', () => {
  testChecks([
    ['a script that nodes can run', scriptInput({ keys: ['a.ps1'], text: 'Write-Host a' }), []],
    [
      'a ConfigMap that does not exist',
      scriptInput({}),
      [['UserDataNotFound', 'winpool-system/windows', 'nodeGroup.userData', 'kubectl -n winpool-system']],
    ],
    [
      'a script that is not PowerShell alone',
      scriptInput({ keys: ['a.ps1'], text: '<script>dir</script>' }),
      [['UserDataInvalid', 'a.ps1', 'winpool-system/windows', '<script>']],
    ],
    [
      'a script for Linux',
      scriptInput({ keys: ['a.ps1'], text: '#!/bin/bash\n/etc/eks/bootstrap.sh demo' }),
      [['UserDataInvalid', 'a.ps1', 'winpool-system/windows', 'a shell script for Linux']],
    ],
    ['a script in which the grammar finds nothing', scriptInput({ keys: ['a.ps1'], text: 'a', syntax: {} }), []],
    [
      'a script that may have a syntax error',
      scriptInput({ keys: ['a.ps1'], text: 'a\nb {', syntax: { error: 2 } }),
      [
        [
          'UserDataSyntaxError (warning)',
          'a.ps1',
          'winpool-system/windows',
          'line 2',
          '[scriptblock]::Create((Get-Content -Raw a.ps1))',
        ],
      ],
    ],
    [
      'a script that is refused, and has a syntax error',
      scriptInput({ keys: ['a.ps1'], text: 'exit\nb {', syntax: { exit: 1, error: 2 } }),
      [['UserDataInvalid', 'a.ps1', 'winpool-system/windows', 'line 1', 'return']],
    ],
    [
      'a script that restarts the node',
      scriptInput({ keys: ['a.ps1'], text: '<powershell>\nStart-Sleep 1200\nRestart-Computer -Force\n</powershell>' }),
      [['UserDataRestarts (warning)', 'a.ps1', 'winpool-system/windows', 'line 3', 'nodeGroup.ami']],
    ],
    [
      'a script that restarts the node after it has joined',
      scriptInput({ text: 'Restart-Computer' }, 'AfterBootstrap'),
      [],
    ],
    [
      'a script that cannot be read',
      { ...scriptInput({}), facts: sampleFacts({ userData: unasked() }) },
      [['UserDataNotFound (unknown)', 'get configmaps in']],
    ],
  ]);
});

const testAdvice = adviceTable('checks/userDataSecrets');

const userData = { configMap: 'windows', key: 'a.ps1', phase: 'BeforeBootstrap' } as const;
const launchSettings = { userData, disk: { sizeGiB: 100, type: 'gp3', encrypted: true } } as const;
/** A pool with this script. */
const withScript = (text: string | undefined) =>
  withLaunchSettings(
    launchSettings,
    {},
    { userData: known({ namespace: 'winpool-system', keys: [], text, isBinary: false }) },
  );

describe('advice about secrets in user data', () => {
  testAdvice([
    ['no script', planned(), []],
    ['a script without secrets', withScript("$secret = Get-SECSecretValue -SecretId 'domain'"), []],
    ['a script that does not exist', withScript(undefined), []],
    ['a script that cannot be read', withLaunchSettings(launchSettings, {}, { userData: unasked() }), []],
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
