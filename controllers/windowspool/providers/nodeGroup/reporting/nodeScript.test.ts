import assert from 'node:assert/strict';
import { known } from '../../../testing/answers.ts';
import { samplePool, sampleTemplate } from '../../../testing/fixtures.ts';
import { textTable } from '../../../testing/goldenTexts.ts';
import { launchSettingsPool } from '../../../testing/launchSettingsScenes.ts';
import { sampleFacts, unasked } from '../../../testing/prerequisites.ts';
import { scriptFirst } from './nodeScript.ts';

const check = textTable('nodeScript');

const pool = (phase: 'BeforeBootstrap' | 'AfterBootstrap' = 'BeforeBootstrap') =>
  launchSettingsPool({ userData: { configMap: 'windows', key: 'a.ps1', phase } });
const source = known({ namespace: 'winpool-system', keys: ['a.ps1'], text: 'a', isBinary: false });
const templates = samplePool({ nodeGroup: { launchTemplate: { name: 'windows', version: '$Latest' } } } as never);

describe('the script that nodes run before they join', () => {
  const rows: readonly (readonly [what: string, s: Parameters<typeof scriptFirst>[0], words: readonly string[]])[] = [
    [
      'is that of the ConfigMap',
      { pool: pool(), prerequisites: sampleFacts({ userData: source }) },
      ['a.ps1', 'winpool-system/windows', '15 minutes', 'C:\\ProgramData\\Amazon\\EC2Launch\\log'],
    ],
    [
      'is named without the namespace if the ConfigMap cannot be read',
      { pool: pool(), prerequisites: sampleFacts({ userData: unasked() }) },
      ['a.ps1', 'ConfigMap windows', '15 minutes'],
    ],
    [
      'has its log in another folder on Windows Server 2019',
      { pool: { ...pool(), spec: { ...pool().spec, windowsVersion: 'Windows2019' } }, prerequisites: undefined },
      ['C:\\ProgramData\\Amazon\\EC2-Windows\\Launch\\Log'],
    ],
    [
      "is in the user's launch template",
      {
        pool: templates,
        prerequisites: sampleFacts({ launchTemplate: known(sampleTemplate('7', { hasUserData: true })) }),
      },
      ['version 7', 'windows', '15 minutes'],
    ],
  ];
  for (const [what, s, words] of rows)
    check(what, () => [`NodeCreationFailure:${scriptFirst(s)}`], [['NodeCreationFailure', ...words]]);

  it('is not named if there is none, or if it runs later', () => {
    const none = sampleFacts({ launchTemplate: known(sampleTemplate('7')) });
    for (const s of [
      { pool: samplePool(), prerequisites: sampleFacts() },
      { pool: pool('AfterBootstrap'), prerequisites: sampleFacts({ userData: source }) },
      { pool: templates, prerequisites: none },
    ])
      assert.equal(scriptFirst(s), '');
  });
});
