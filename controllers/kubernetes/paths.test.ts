import { deepEqual } from 'node:assert/strict';
import { apiPath } from './paths.ts';

describe('Paths of the API', () => {
  it('name a collection, those of one namespace, or one object', () => {
    deepEqual(
      [
        apiPath('v1', 'nodes'),
        apiPath('v1', 'nodes', { name: 'win-1' }),
        apiPath('v1', 'pods', { namespace: 'shop' }),
        apiPath('apps/v1', 'deployments', { namespace: 'shop', name: 'cart' }),
      ],
      [
        '/api/v1/nodes',
        '/api/v1/nodes/win-1',
        '/api/v1/namespaces/shop/pods',
        '/apis/apps/v1/namespaces/shop/deployments/cart',
      ],
    );
  });

  it('do not let a name reach another object', () => {
    deepEqual(apiPath('v1', 'pods', { namespace: 'a/b', name: '../x?y' }), '/api/v1/namespaces/a%2Fb/pods/..%2Fx%3Fy');
  });
});
