import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import { KubernetesError } from '../../controllers/kubernetes/kubernetesError.ts';
import type { EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import { existingPool } from '../../controllers/windowspool/testing/fixtures.ts';
import { InstanceLists } from './instanceLists.ts';

const pool = existingPool({ existingNodes: { instancesConfigMap: { namespace: 'hosts', name: 'windows-instances' } } });

/** A server with one ConfigMap, which ends its watches when the operator loses the permission to read it. */
class FakeServer {
  denies = false;
  readonly #metadata = { name: 'windows-instances', uid: 'uid', resourceVersion: '7' };

  async requestBytes(): Promise<Buffer> {
    this.#allow();
    const items = [{ metadata: this.#metadata, data: { '10.0.0.1': 'username=a' } }];
    return Buffer.from(JSON.stringify({ metadata: { resourceVersion: '7' }, items }));
  }

  async *stream(_path: string, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<Buffer> {
    this.#allow();
    const object = { metadata: { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'true' } } };
    const added = { type: 'ADDED', object: { metadata: this.#metadata, data: { '10.0.0.1': 'username=a' } } };
    yield Buffer.from(`${JSON.stringify(added)}\n${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
    while (!this.denies && !signal.aborted) await sleep(5);
  }

  #allow(): void {
    if (this.denies) throw new KubernetesError('configmaps is forbidden', { status: 403, reason: 'Forbidden' });
  }
}

describe('a list of hosts', () => {
  it('becomes unknown when the permission to read it is revoked, and known when it is granted again', async () => {
    const server = new FakeServer();
    const silent = { warn: () => undefined, info: () => undefined, debug: () => undefined, error: () => undefined };
    const metrics = { reflector: () => ({}) } as unknown as EngineMetrics;
    const heard: string[] = [];
    const lists: InstanceLists = new InstanceLists(
      server as unknown as KubernetesClient,
      silent as unknown as Logger,
      metrics,
      () => {
        const list = lists.of(pool);
        heard.push(list.kind === 'unknown' ? `unknown ${list.error?.kind}` : list.kind);
      },
    );
    const becomes = async (state: string) => {
      for (let turn = 0; turn < 1_000 && heard.at(-1) !== state; turn++) await sleep(10);
      assert.equal(heard.at(-1), state);
    };
    try {
      lists.follow('web', pool);
      await becomes('seen');
      server.denies = true;
      await becomes('unknown denied');
      server.denies = false;
      await becomes('seen');
    } finally {
      lists.stop();
    }
  });
});
