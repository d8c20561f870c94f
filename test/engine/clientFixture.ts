/** What the suites about the adapters share: a client of the real API server, and pools that no operator reconciles. */
import assert from 'node:assert/strict';
import { createKubernetesClient, type KubernetesClient } from '../../controllers/kubernetes/client.ts';
import { createPools, poolIdentity, poolListWatch } from '../../controllers/kubernetes/pools.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import type { Identity, ListWatch } from '../../controllers/runtime/ports.ts';
import { Reflector } from '../../controllers/runtime/reflector.ts';
import { Store } from '../../controllers/runtime/store.ts';
import { silentLog } from '../../controllers/runtime/testing/silentLog.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import type { CallResult } from '../../controllers/windowspool/ports/callResult.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';

/** A client for the tests of one `describe`. At the end it asserts that the server rejected no request unexpectedly. */
export function withClient() {
  let world: TestEnv | undefined;
  let client: KubernetesClient | undefined;
  const ending = new AbortController();
  const { signal } = ending;
  const running: Promise<void>[] = [];
  const codes = new Set<string>();

  before(async function () {
    this.timeout(600_000);
    world = await theWorld();
    const kubeconfigPath = world.controlPlane.adminKubeconfig;
    const onRequest = (code: string): void => void codes.add(code);
    client = await createKubernetesClient({ kubeconfigPath, log: silentLog, version: 'test', onRequest });
  });
  after(async () => {
    ending.abort();
    await Promise.all(running);
    await client?.close();
    for (const code of ['401', '403', '500']) assert.equal(codes.has(code), false, `some request was answered ${code}`);
  });

  const fixture = {
    signal,
    get world(): TestEnv {
      return world ?? assert.fail('before the suite began');
    },
    get client(): KubernetesClient {
      return client ?? assert.fail('before the suite began');
    },
    /** Fills the store, and keeps it filled until the suite ends. */
    reflect<T>(name: string, source: ListWatch<T>, identity: Identity<T>, store: Store<T, string>): void {
      running.push(new Reflector({ name, source, identity, store, clock: realClock, log: silentLog }).run(signal));
    },
    /** Creates pools. `seen` returns them as the cache has them. */
    async makePools(...names: readonly string[]) {
      const store = new Store<WindowsPool>({ identity: poolIdentity, log: silentLog });
      fixture.reflect('windowspools', poolListWatch(fixture.client), poolIdentity, store);
      const path = '/apis/winpool.dev/v1alpha1/windowspools';
      for (const name of names) {
        await fixture.client.request('POST', path, {
          body: poolManifest(name, { nodeGroup: { instanceTypes: ['m5.large'] } }),
          signal,
        });
      }
      await until('the pools', () => names.every((name) => store.get(name) !== undefined));
      const seen = (name: string): WindowsPool => store.get(name) as WindowsPool;
      const end = (name: string): Promise<unknown> => fixture.client.request('DELETE', `${path}/${name}`, { signal });
      return { pools: createPools(fixture.client, store), seen, end, path };
    },
  };
  return fixture;
}

/** Waits until a condition is true. */
export const until = (what: string, probe: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<boolean> =>
  waitFor(probe, { what, timeoutMs, intervalMs: 20 });

/** The value of a result that must be successful. */
export function good<T>(answer: CallResult<T>): T {
  if (!answer.ok) throw new Error(`${answer.error.operation}: ${answer.error.message}`);
  return answer.value;
}

/** The kind of error in a result; `none` when it is successful. */
export const errorKindOf = (answer: CallResult<unknown>): string => (answer.ok ? 'none' : answer.error.kind);
