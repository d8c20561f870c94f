import assert from 'node:assert/strict';
import { assertNames } from '../../test/messages.ts';
import { checkApiServer } from './apiServerVersion.ts';

const UPGRADE = 'Upgrade the control plane';
const NEWER = 'newer release of the operator';

describe('the version of an API server', () => {
  const table: readonly (readonly [version: string, kind: string, ...names: string[]])[] = [
    ['v1.30.9-eks-1234567', 'tooOld', '1.31', UPGRADE],
    ['v1.9.0', 'tooOld', '1.31', UPGRADE],
    ['v1.31.0', 'untested', '1.34', '1.36', UPGRADE],
    ['v1.33.13-eks-1', 'untested', '1.34', '1.36', UPGRADE],
    ['v1.34.0', 'supported'],
    ['v1.36.3', 'supported'],
    ['v1.37.0-alpha.1', 'untested', '1.34', '1.36', NEWER],
    ['v2.0.0', 'untested', '1.34', '1.36', NEWER],
    ['', 'supported'],
    ['unknown', 'supported'],
  ];
  for (const [version, kind, ...names] of table)
    it(`${JSON.stringify(version)} is ${kind}`, () => {
      const found = checkApiServer(version);
      assert.equal(found.kind, kind);
      if (found.kind !== 'supported') assertNames(found.message, version, ...names);
    });
});
