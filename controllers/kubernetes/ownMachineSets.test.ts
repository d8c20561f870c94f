import assert from 'node:assert/strict';
import type { MachineSetReference } from '../windowspool/api/api.gen.ts';
import type { KubernetesClient } from './client.ts';
import { KubernetesError } from './kubernetesError.ts';
import { machineSetOf } from './machines.ts';
import { createOwnMachineSets } from './ownMachineSets.ts';

const ref: MachineSetReference = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachineDeployment',
  namespace: 'a',
  name: 'windows',
};
const metadata = { namespace: 'a', name: 'windows', labels: {} };
const object = { apiVersion: ref.apiVersion, kind: ref.kind, metadata, spec: {} };
const infrastructure = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind: 'AzureMachineTemplate',
  metadata: { ...metadata, name: 'windows-1' },
  spec: {},
};
const TEMPLATES = '/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/a/azuremachinetemplates';
const OBJECTS = '/apis/cluster.x-k8s.io/v1beta2/namespaces/a/machinedeployments';
const { signal } = new AbortController();

/** The port on an API server with these answers, by method and path; 404 for others. A number is an error. Also the requests that it sends. */
function portWith(answers: Readonly<Record<string, unknown>>) {
  const requests: string[] = [];
  const request = async (method: string, path: string, { query, body }: { query?: object; body?: object } = {}) => {
    requests.push(`${method} ${path}${method === 'GET' ? '' : ` ${JSON.stringify({ ...query, ...body })}`}`);
    const answer = answers[`${method} ${path}`] ?? (method === 'GET' ? 404 : {});
    if (typeof answer === 'string') throw new KubernetesError('no', { status: 409, reason: answer });
    if (typeof answer === 'number') throw new KubernetesError('no', { status: answer, reason: 'No' });
    return answer;
  };
  return { requests, port: createOwnMachineSets({ request } as unknown as KubernetesClient) };
}
const referring = (name: string) => ({ spec: { template: { spec: { infrastructureRef: { name } } } } });

describe('the port of objects from machines.template', () => {
  it('creates the infrastructure template first, and applies the object as one field manager', async () => {
    const { requests, port } = portWith({});
    assert.ok((await port.apply(ref, { object, infrastructure }, true, signal)).ok);
    assert.match(
      requests.join('\n'),
      /^POST \S+azuremachinetemplates .*\nGET .*\nPATCH \S+\/windows \{"fieldManager":"windowspool-operator","force":false/,
    );
    assert.ok(requests[0]?.startsWith(`POST ${TEMPLATES} `) && requests[2]?.startsWith(`PATCH ${OBJECTS}/windows `));
  });

  it('takes an infrastructure template that exists: its name is a hash of its content', async () => {
    const { requests, port } = portWith({ [`POST ${TEMPLATES}`]: 'AlreadyExists' });
    assert.ok((await port.apply(ref, { object, infrastructure }, false, signal)).ok);
    assert.equal(requests.length, 2);
    assert.match(requests[1] ?? '', /"force":true/);
    const full = portWith({ [`POST ${TEMPLATES}`]: 'Conflict' });
    assert.ok(!(await full.port.apply(ref, { object, infrastructure }, false, signal)).ok);
  });

  it('does not apply an object whose infrastructure template is rejected', async () => {
    const { requests, port } = portWith({ [`POST ${TEMPLATES}`]: 422 });
    const result = await port.apply(ref, { object, infrastructure }, false, signal);
    assert.ok(
      !result.ok && result.error.kind === 'refused' && result.error.operation === 'create azuremachinetemplates',
    );
    assert.equal(requests.length, 1);
  });

  it('does not take over an object that another tool has created meanwhile', async () => {
    const { requests, port } = portWith({ [`GET ${OBJECTS}/windows`]: {} });
    const result = await port.apply(ref, { object }, true, signal);
    assert.ok(!result.ok && result.error.kind === 'conflict');
    assert.ok(!requests.some((request) => request.startsWith('PATCH')));
  });

  it('deletes the object that was seen, and no other one of its name', async () => {
    const seen = machineSetOf('MachineDeployment', { metadata: { name: 'windows', uid: 'uid-1' } });
    const { requests, port } = portWith({ [`DELETE ${OBJECTS}/windows`]: 404 });
    assert.ok((await port.delete(ref, seen, signal)).ok);
    assert.match(requests[0] ?? '', /"preconditions":\{"uid":"uid-1"\},"propagationPolicy":"Foreground"/);
  });

  it('deletes the templates of the pool to which neither the object nor a MachineSet refers', async () => {
    const names = ['windows-1', 'windows-2', 'windows-3'];
    const { requests, port } = portWith({
      [`GET ${OBJECTS}/windows`]: referring('windows-3'),
      'GET /apis/cluster.x-k8s.io/v1beta2/namespaces/a/machinesets': { items: [referring('windows-2'), {}] },
      [`GET ${TEMPLATES}`]: { items: [...names.map((name) => ({ metadata: { name, uid: `uid-${name}` } })), {}] },
    });
    assert.ok((await port.pruneTemplates(ref, infrastructure, 'web', signal)).ok);
    const deleted = requests.filter((request) => request.startsWith('DELETE'));
    assert.deepEqual(
      deleted.map((request) => request.split(' ')[1]),
      [`${TEMPLATES}/windows-1`],
    );
    assert.match(deleted[0] ?? '', /uid-windows-1/);
  });

  it('has nothing to delete where the API of the templates is gone', async () => {
    const sets = { 'GET /apis/cluster.x-k8s.io/v1beta2/namespaces/a/machinesets': { items: [] } };
    assert.ok((await portWith(sets).port.pruneTemplates(ref, infrastructure, 'web', signal)).ok);
  });

  it('deletes none if the MachineSets cannot be read', async () => {
    const { requests, port } = portWith({ [`GET ${TEMPLATES}`]: { items: [{ metadata: { name: 'windows-1' } }] } });
    assert.ok(!(await port.pruneTemplates(ref, infrastructure, 'web', signal)).ok);
    assert.ok(!requests.some((request) => request.startsWith('DELETE')));
  });
});
