/** A kubelet that writes anything to its node, under its own identity, which NodeRestriction and the Node authorizer check. */
import assert from 'node:assert/strict';
import { KubeConfig, type V1Node } from '@kubernetes/client-node';
import { Agent, request } from 'undici';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { readAudit } from '../fakes/testenv/audit.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';

const AGENT = 'hostile-kubelet';

/** Patches the status of a node (merge patch, JSON). Returns the API server's error if it rejects the patch. */
export function reportStatus(world: TestEnv, node: string, status: string): Promise<string | undefined> {
  return patch(world, node, '/status', `{"status":${status}}`);
}

type Entries = Readonly<Record<string, string | null>>;

/** Sets labels and annotations of a node; null removes one. Returns the API server's error if it rejects the patch. */
export function markNode(
  world: TestEnv,
  node: string,
  metadata: { readonly labels?: Entries; readonly annotations?: Entries },
): Promise<string | undefined> {
  return patch(world, node, '', JSON.stringify({ metadata }));
}

/** A merge patch. Not by kubectl, which first reads nodes/status, as no kubelet may. */
async function patch(
  world: TestEnv,
  node: string,
  subresource: '' | '/status',
  body: string,
): Promise<string | undefined> {
  const { adminKubeconfig, caData, url } = world.controlPlane;
  const config = new KubeConfig();
  config.loadFromFile(adminKubeconfig);
  const dispatcher = new Agent({ connect: { ca: Buffer.from(caData, 'base64').toString() } });
  const response = await request(`${url}/api/v1/nodes/${node}${subresource}`, {
    dispatcher,
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${config.getCurrentUser()?.token}`,
      'content-type': 'application/merge-patch+json',
      'impersonate-user': `system:node:${node}`,
      'impersonate-group': 'system:nodes',
      'user-agent': AGENT,
    },
    body,
  });
  const answer = await response.body.text();
  await dispatcher.close();
  return response.statusCode === 200 ? undefined : answer;
}

/** How many patches of its status the API server has accepted from the kubelet of a node. */
export async function acceptedFrom({ controlPlane }: TestEnv, node: string): Promise<number> {
  const events = await readAudit(controlPlane.auditLog, `system:node:${node}`);
  return events.filter(
    ({ verb, objectRef, impersonatedUser, responseStatus, userAgent }) =>
      verb === 'patch' &&
      objectRef?.subresource === 'status' &&
      impersonatedUser?.username === `system:node:${node}` &&
      userAgent === AGENT &&
      responseStatus?.code === 200,
  ).length;
}

/** The name of the first node of a pool. */
export async function nodeOf(world: TestEnv, pool: string): Promise<string> {
  const text = await world.kubectl('get', 'nodes', '-l', `eks.amazonaws.com/nodegroup=${pool}`, '-o', 'json');
  const [node] = (JSON.parse(text) as { items: Stored<V1Node>[] }).items;
  assert.ok(node, `pool ${pool} has no node`);
  return node.metadata.name;
}
