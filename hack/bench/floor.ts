/** The latency from a write to its watch event on this machine: no controller can be faster. */

import type { V1ConfigMap } from '@kubernetes/client-node';
import { PATCH } from '../../controllers/kubernetes/client.ts';
import { jsonDecoder } from '../../controllers/kubernetes/decoder.ts';
import { createListWatch } from '../../controllers/kubernetes/listWatch.ts';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import type { BenchCluster } from './benchCluster.ts';
import { view } from './view.ts';

const COLLECTION = '/api/v1/namespaces/default/configmaps';
const NAME = 'bench-floor';
const LIMIT_MS = 30_000;

interface Marker {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly turn: string;
}

export interface Floor extends AsyncDisposable {
  /** Milliseconds from sending a small write to its watch event. */
  measure(): Promise<number>;
}

export async function startFloor({ admin }: BenchCluster, signal: AbortSignal): Promise<Floor> {
  const apply = (turn: string) => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NAME }, data: { turn } };
    const query = { fieldManager: 'bench', force: true };
    return admin.request('PATCH', `${COLLECTION}/${NAME}`, { body, query, contentType: PATCH.apply, signal });
  };
  await apply('');
  const source = createListWatch({
    client: admin,
    path: COLLECTION,
    decoder: jsonDecoder(markerOf),
    fieldSelector: `metadata.name=${NAME}`,
  });
  const markers = view('configmaps', source, {
    key: ({ name }) => name,
    resourceVersion: ({ resourceVersion }) => resourceVersion,
  });
  let turn = 0;
  return {
    measure: async () => {
      const next = String(++turn);
      const started = performance.now();
      const seen = markers.until(`turn ${next}`, (all) => all.some((marker) => marker.turn === next), LIMIT_MS);
      const [at] = await Promise.all([seen, apply(next)]);
      return at - started;
    },
    [Symbol.asyncDispose]: () => markers[Symbol.asyncDispose](),
  };
}

function markerOf({ metadata = {}, data }: Wire<V1ConfigMap>): Marker {
  const { name = '', uid = '', resourceVersion = '' } = metadata;
  return { name, uid, resourceVersion, turn: data?.turn ?? '' };
}
