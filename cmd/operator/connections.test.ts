import assert from 'node:assert/strict';
import { recordedLog } from '../../controllers/runtime/testing/recordedLog.ts';
import { logScope } from './connections.ts';
import { readCommand } from './options.ts';

describe('the first line of the log', () => {
  const rows: readonly (readonly [what: string, args: string[], line: object])[] = [
    [
      'names the EKS cluster and its Region',
      ['--cluster-name=prod', '--region=eu-west-1'],
      { clusterName: 'prod', region: 'eu-west-1', msg: 'managing pools of the EKS cluster' },
    ],
    [
      'says that the operator does not use AWS',
      [],
      {
        msg: 'no cluster name is set: managing only pools of existing nodes, of machines and of Karpenter, without AWS',
      },
    ],
  ];
  for (const [what, args, line] of rows)
    it(what, () => {
      const command = readCommand(args, '0.1.0');
      assert.equal(command.kind, 'run');
      const { log, lines } = recordedLog();
      if (command.kind === 'run') logScope(command.options, log);
      assert.deepEqual(lines, [{ level: 'info', ...line }]);
    });
});
