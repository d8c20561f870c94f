import assert from 'node:assert/strict';
import { assertNames } from '../../test/messages.ts';
import { crdMismatch } from './crdVersion.ts';

const APPLY = 'Apply the CRD';
const UPGRADE = 'Upgrade the operator';

describe('a CRD of release', () => {
  const table: readonly (readonly [crd: string | undefined, operator: string, ...names: string[]])[] = [
    ['0.1.0', '0.1.0'],
    ['0.1.0', 'v0.1.4'],
    ['0.1.0', '0.2.0', '0.1.0', '0.2.0', APPLY],
    ['0.9.0', '0.10.1', '0.9.0', '0.10.1', APPLY],
    ['0.9.0', '1.0.0', '0.9.0', '1.0.0', APPLY],
    ['v0.2.0', '0.1.3', 'v0.2.0', '0.1.3', UPGRADE],
    ['1.0.0-rc.1', '0.9.0', '1.0.0-rc.1', '0.9.0', UPGRADE],
    [undefined, '0.1.0'],
    ['0.1.0', 'latest'],
  ];
  for (const [crd, operator, ...names] of table)
    it(`${crd} ${names.length === 0 ? 'fits' : 'does not fit'} the operator ${operator}`, () => {
      const message = crdMismatch(crd, operator);
      if (names.length === 0) assert.equal(message, undefined);
      else assertNames(message, ...names);
    });
});
