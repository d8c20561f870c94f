import assert from 'node:assert/strict';
import { checkApiServer } from './apiServerVersion.ts';

const OLD =
  'The API server runs Kubernetes v1.30.9-eks-1234567, and the operator needs 1.31 or newer. Upgrade the control plane of the cluster, or install an older release of the operator.';
const tested = (version: string, next: string) =>
  `The API server runs Kubernetes ${version}. The operator is tested with 1.34 to 1.36. ${next}`;
const UPGRADE = 'Upgrade the control plane of the cluster.';
const NEWER = 'Check for a newer release of the operator.';

describe('the version of an API server', () => {
  const table: readonly (readonly [string, ReturnType<typeof checkApiServer>])[] = [
    ['v1.30.9-eks-1234567', { kind: 'tooOld', message: OLD }],
    ['v1.9.0', { kind: 'tooOld', message: OLD.replace('v1.30.9-eks-1234567', 'v1.9.0') }],
    ['v1.31.0', { kind: 'untested', message: tested('v1.31.0', UPGRADE) }],
    ['v1.33.13-eks-1', { kind: 'untested', message: tested('v1.33.13-eks-1', UPGRADE) }],
    ['v1.34.0', { kind: 'supported' }],
    ['v1.36.3', { kind: 'supported' }],
    ['v1.37.0-alpha.1', { kind: 'untested', message: tested('v1.37.0-alpha.1', NEWER) }],
    ['v2.0.0', { kind: 'untested', message: tested('v2.0.0', NEWER) }],
    ['', { kind: 'supported' }],
    ['unknown', { kind: 'supported' }],
  ];
  for (const [version, expected] of table)
    it(`${JSON.stringify(version)} is ${expected.kind}`, () => assert.deepEqual(checkApiServer(version), expected));
});
