import assert from 'node:assert/strict';
import type { NodeRecord } from '../../../controllers/windowspool/ports/nodes.ts';
import { existingPool, knownStatus } from '../../../controllers/windowspool/testing/fixtures.ts';
import { assertNames } from '../../../test/messages.ts';
import { explain, Failure } from '../failure.ts';
import type { DryRun } from '../flags.ts';
import type { Registries } from '../registry/registries.ts';
import type { Terminal } from '../terminal.ts';
import { blockedBy, FakeApi, type FakeObject, failure } from '../testing/fakeApi.ts';
import { FakeRegistry, registriesOf } from '../testing/fakeRegistry.ts';
import { NEW, nodesOf, OLD, readyPool } from '../testing/migrations.ts';
import { plain } from '../text.ts';
import { drainNodes, type MigrateFlags, migrate, migrateCommand, readPlan } from './migrate.ts';
import type { MigrationReport } from './report.ts';

const PASS_MS = 5;
const CLASS_2019 = { runtimeClassName: 'windows-2019' };
const ON_2022 = { runtimeClassName: 'windows-2022' };
const spec = (more: object = {}) => ({ containers: [{ name: 'app', image: 'cart:ltsc2022' }], ...more });

function owner(kind: string, name: string): object {
  return { apiVersion: 'apps/v1', kind, name, uid: `uid-${name}`, controller: true };
}

/** An object of the namespace shop. */
function object(
  name: string,
  rest: { owner?: object; labels?: object; spec?: object; status?: object } = {},
): FakeObject {
  const { owner: its, labels = {}, ...more } = rest;
  return {
    metadata: {
      name,
      namespace: 'shop',
      uid: `uid-${name}`,
      labels: labels as Record<string, string>,
      ownerReferences: its ? [its] : [],
    },
    ...more,
  } as FakeObject;
}

const pod = (name: string, nodeName: string | undefined, its: object | undefined, more: object = {}): FakeObject =>
  object(name, {
    ...(its && { owner: its }),
    labels: { app: name.split('-')[0] },
    spec: spec({ ...(nodeName && { nodeName }), ...more }),
    status: { phase: 'Running' },
  });
const template = (name: string, more: object, status: object = {}, its?: object): FakeObject =>
  object(name, { ...(its && { owner: its }), spec: { replicas: 2, template: { spec: spec(more) } }, status });

/** The pools `old` and `new`, which both run Windows Server 2022, with two nodes each. */
function sameVersion(change: (api: FakeApi) => void = () => undefined): FakeApi {
  const api = new FakeApi();
  const old = readyPool('old', { disruption: { maxUnavailable: 1 } });
  api.pools = [old, NEW];
  api.nodes = [...nodesOf(old, 2), ...nodesOf(NEW, 2)];
  api.add('deployments', template('cart', ON_2022, { readyReplicas: 2 }));
  api.add('replicasets', template('cart-1', ON_2022, { readyReplicas: 2 }, owner('Deployment', 'cart')));
  for (const [name, node] of [
    ['cart-a', 'old-1'],
    ['cart-b', 'old-2'],
  ] as const)
    api.add('pods', pod(name, node, owner('ReplicaSet', 'cart-1'), ON_2022));
  change(api);
  return api;
}

/** A terminal that records what is printed; `answer`: to a question. */
function recorded(answer?: string) {
  const out: string[] = [];
  const terminal: Terminal = {
    isInteractive: answer !== undefined,
    isScreen: false,
    columns: 80,
    paint: plain,
    print: (text) => void out.push(text),
    printError: (text) => void out.push(text),
    redraw: (text) => void out.push(text),
    ask: async (question) => {
      out.push(question);
      return answer ?? '';
    },
  };
  return { terminal, out, text: () => out.join('\n') };
}

/** The report that the command prints, and its exit code. */
async function reportOf(api: FakeApi, flags: MigrateFlags = { output: 'json' }, registries?: Registries) {
  await using served = await api.serve();
  const { terminal, out, text } = recorded();
  const code = await migrate(served.cluster, terminal, ['old', 'new'], flags, registries).then(
    () => 0,
    (error: Failure) => error.code,
  );
  const json = out.findLast((each) => each.startsWith('{'));
  return { code, text: text(), report: json === undefined ? undefined : (JSON.parse(json) as MigrationReport) };
}

const namesIn = (report: MigrationReport | undefined) =>
  report?.workloads.map(({ kind, namespace, name, pods, state }) => `${kind} ${namespace}/${name} ${pods} ${state}`);

describe('kubectl windowspool migrate --images', () => {
  it('asks the registries of the images that must be of the new build, and those of the images that replace them', async () => {
    await using registry = await FakeRegistry.start();
    registry.addIndex('cart', 'ltsc2019', 'windows/amd64 10.0.17763.4131');
    registry.addIndex('cart', 'ltsc2022', 'windows/amd64 10.0.20348.2762');
    const image = `${registry.host}/cart:ltsc2019`;
    const api = new FakeApi();
    api.pools = [OLD, NEW];
    api.nodes = [...nodesOf(OLD, 1), ...nodesOf(NEW, 1)];
    const containers = [
      { name: 'app', image },
      { name: 'side', image: 'Not valid' },
    ];
    api.add('deployments', template('cart', { ...CLASS_2019, containers }));
    const { code, report, text } = await reportOf(api, { output: 'json' }, registriesOf());
    const [workload] = report?.workloads ?? [];
    const changes = workload?.changes.map(({ text: change }) => change.replaceAll(registry.host, 'HOST'));
    assert.equal(code, 1);
    assert.match(
      changes?.at(-1) ?? '',
      /^image \(app\): HOST\/cart:ltsc2019 -> HOST\/cart:ltsc2022\. HOST\/cart:ltsc2019 is for windows\/amd64 10\.0\.17763\.4131 \(in its registry: sha256:[0-9a-f]{12}\)\.$/,
    );
    assert.match(text, /^SKIP {2}The Windows build of Not valid could not be read/);
    assert.deepEqual(registry.requests.map(({ path }) => path.split('/').at(-1)).sort(), ['ltsc2019', 'ltsc2022']);
  });
});

describe('the workloads that kubectl windowspool migrate finds', () => {
  function mixed(): FakeApi {
    const api = new FakeApi();
    api.pools = [OLD, NEW];
    api.nodes = [...nodesOf(OLD, 2), ...nodesOf(NEW, 3)];
    const oldImage = { ...CLASS_2019, containers: [{ name: 'app', image: 'cart:ltsc2019' }] };
    api.add(
      'deployments',
      template('cart', oldImage, { readyReplicas: 2 }),
      template('moved', ON_2022),
      template('rolling', ON_2022),
      template('scaled-to-zero', CLASS_2019),
      template('linux', { nodeSelector: { 'kubernetes.io/os': 'linux' } }),
    );
    api.add(
      'replicasets',
      template('cart-1', oldImage, {}, owner('Deployment', 'cart')),
      template('cart-0', CLASS_2019, {}, owner('Deployment', 'cart')),
      template('rolling-1', CLASS_2019, {}, owner('Deployment', 'rolling')),
      template('canary-1', ON_2022, {}, owner('Rollout', 'canary')),
      template('circle-1', ON_2022, {}, owner('ReplicaSet', 'circle-1')),
    );
    api.add('daemonsets', template('agent', CLASS_2019));
    api.add(
      'cronjobs',
      object('nightly', { spec: { jobTemplate: { spec: { template: { spec: spec(CLASS_2019) } } } } }),
    );
    api.add(
      'jobs',
      template('nightly-1', CLASS_2019, {}, owner('CronJob', 'nightly')),
      template('done', CLASS_2019, { conditions: [{ type: 'Complete', status: 'True' }] }),
      template('import', CLASS_2019),
    );
    api.add(
      'pods',
      pod('cart-1-a', 'old-1', owner('ReplicaSet', 'cart-1'), oldImage),
      pod('cart-1-b', 'old-2', owner('ReplicaSet', 'cart-1'), oldImage),
      pod('rolling-1-a', 'old-1', owner('ReplicaSet', 'rolling-1'), CLASS_2019),
      pod('canary-1-a', 'old-1', owner('ReplicaSet', 'canary-1'), ON_2022),
      pod('circle-1-a', 'old-1', owner('ReplicaSet', 'circle-1'), ON_2022),
      pod('agent-a', 'old-1', owner('DaemonSet', 'agent'), CLASS_2019),
      pod('nightly-1-a', 'old-2', owner('Job', 'nightly-1'), CLASS_2019),
      pod('bare', 'old-2', undefined, CLASS_2019),
      pod('waiting', undefined, undefined, CLASS_2019),
      pod('waiting-elsewhere', undefined, undefined, ON_2022),
      pod('moved-a', 'new-1', owner('ReplicaSet', 'moved-1'), ON_2022),
      pod('linux-a', 'linux-1', owner('ReplicaSet', 'linux-1')),
    );
    api.add('poddisruptionbudgets', {
      ...object('cart'),
      spec: { selector: { matchLabels: { app: 'cart' } } },
      status: { disruptionsAllowed: 0 },
    });
    return api;
  }

  it('are those that run on the old nodes or select the old pool, each with its top-level controller', async () => {
    const { code, report } = await reportOf(mixed());
    assert.equal(code, 1);
    assert.deepEqual(namesIn(report), [
      'Pod shop/bare 1 Change',
      'Deployment shop/cart 2 Change',
      'Job shop/import 0 Change',
      'CronJob shop/nightly 1 Change',
      'Deployment shop/scaled-to-zero 0 Change',
      'Pod shop/waiting 0 Change',
      'Deployment shop/rolling 1 Blocked',
      'DaemonSet shop/agent 1 Ready',
      'Rollout shop/canary 1 Ready',
      'ReplicaSet shop/circle-1 1 Ready',
    ]);
    const cart = report?.workloads.find(({ name }) => name === 'cart');
    assert.deepEqual(
      cart?.changes.map(({ field, to }) => `${field} ${to}`),
      ['runtimeClassName windows-2022', 'image cart:ltsc2022'],
    );
    assertNames(cart?.blocks.join(), 'PodDisruptionBudget cart');
  });

  it('are shown as far as the user may read them', async () => {
    const api = mixed();
    for (const resource of ['replicasets', 'cronjobs', 'poddisruptionbudgets']) api.denied.add(resource);
    const { report, text } = await reportOf(api);
    assert.ok(namesIn(report)?.includes('ReplicaSet shop/cart-1 2 Change'), text);
    assert.deepEqual(
      text.match(/^SKIP {2}.*$/gm)?.map((line) => line.slice(0, 40)),
      [
        'SKIP  The PodDisruptionBudgets are unkno',
        'SKIP  replicasets: Permission denied: re',
        'SKIP  cronjobs: Permission denied: cronj',
      ],
    );
  });

  it('count with what they take: addresses and memory', async () => {
    const api = sameVersion();
    const limits = {
      resources: { limits: { 'vpc.amazonaws.com/PrivateIPv4Address': '1' }, requests: { memory: '5Gi' } },
    };
    const containers = [{ name: 'app', image: 'cart', ...limits }];
    api.nodes = api.nodes.filter(({ name }) => name !== 'new-2');
    api.add(
      'pods',
      pod('other', 'new-1', undefined, {
        containers,
        initContainers: [{ name: 'init', resources: { requests: { memory: '6Gi' } } }],
      }),
    );
    api.add(
      'pods',
      pod('big', 'old-1', owner('ReplicaSet', 'cart-1'), { ...ON_2022, containers, overhead: { memory: '1Gi' } }),
    );
    const { report } = await reportOf(api);
    assertNames(report?.advice.join('\n'), '6.0 GiB', 'pool new', '0.0 GiB');
  });

  it('need two pools', async () => {
    await using served = await sameVersion().serve();
    const { terminal } = recorded();
    const { signal } = served.cluster;
    const context = { terminal, signal, version: '1.2.3', connect: async () => served.cluster };
    const run = async (names: [string, string], flags: MigrateFlags = {}) => {
      try {
        migrateCommand.check?.(names, flags);
        await migrateCommand.run(context, names, { ...flags, requestTimeout: 1_000 });
        return '0';
      } catch (error) {
        assert.ok(error instanceof Failure);
        return `${error.code} ${error.message}`;
      }
    };
    assert.deepEqual(
      [
        await run(['old', 'old']),
        await run(['old', 'newer']),
        await run(['odl', 'new']),
        await run(['old', 'new'], { yes: true }),
        await run(['old', 'new'], { dryRun: 'server' }),
        await run(['old', 'new'], { drain: true, output: 'json' }),
        await run(['old', 'new']),
      ],
      [
        '2 Name two different pools: old is both the old and the new one.',
        '1 WindowsPool "newer" not found. The pools are: new and old.',
        '1 WindowsPool "odl" not found. Did you mean "old"?',
        '2 --allow-pending, --yes and --dry-run require --drain.',
        '2 --allow-pending, --yes and --dry-run require --drain.',
        '2 --drain and --output exclude each other.',
        '0',
      ],
    );
  });
});

/** Has the ReplicaSet recreate an evicted pod in the new pool; it is ready after this number of reads of its Deployment. */
function recreating(api: FakeApi, readyAfter = 1): void {
  let waits = 0;
  const setReady = (readyReplicas: number) =>
    api.objects.set(
      'deployments',
      (api.objects.get('deployments') ?? []).map((each) => ({ ...each, status: { readyReplicas } })),
    );
  api.onEvicted = (evicted) => {
    api.add('pods', pod(`${evicted.metadata.name}-again`, 'new-1', owner('ReplicaSet', 'cart-1'), ON_2022));
    waits = readyAfter;
    setReady(1);
  };
  const other = api.intercept;
  api.intercept = (method, path, query) => {
    if (method === 'GET' && path.endsWith('/deployments/cart')) {
      api.writes.push('read cart');
      if (--waits <= 0) setReady(2);
    }
    return other(method, path, query);
  };
}

interface DrainOutcome {
  readonly code: number;
  readonly error: string;
  readonly text: string;
}

/** Runs migrate --drain with --yes, or with the answer to its question. */
async function drain(
  api: FakeApi,
  {
    answer,
    signal,
    allowsPending = false,
    dryRun = 'none',
  }: { answer?: string; signal?: AbortSignal; allowsPending?: boolean; dryRun?: DryRun } = {},
): Promise<DrainOutcome> {
  await using served = await api.serve(signal);
  const { cluster } = served;
  const { terminal, text } = recorded(answer);
  try {
    const plan = await readPlan(cluster, terminal, ['old', 'new'], allowsPending);
    await drainNodes(cluster, terminal, plan, { yes: answer === undefined, dryRun }, PASS_MS);
    return { code: 0, error: '', text: text() };
  } catch (error) {
    return { code: error instanceof Failure ? error.code : 130, error: explain(error), text: text() };
  }
}

const cordoned = (api: FakeApi) => api.nodes.filter(({ unschedulable }) => unschedulable).map(({ name }) => name);

describe('kubectl windowspool migrate --drain', () => {
  it('changes nothing in a dry run; one of the server lets the API server check the cordons', async () => {
    const api = sameVersion();
    const local = await drain(api, { dryRun: 'client' });
    assert.match(local.text, /^Nothing was changed \(dry run\)\.$/m);
    assert.deepEqual([local.code, api.writes], [0, []]);
    const checked = await drain(api, { dryRun: 'server' });
    assert.match(checked.text, /^The API server accepts .* \(server dry run\)\.$/m);
    assert.deepEqual([api.writes, cordoned(api)], [['check cordon old-1', 'check cordon old-2'], []]);
  });

  it('cordons all nodes, then drains one after the other when the pods of the last one are ready again', async () => {
    const api = sameVersion();
    recreating(api, 3);
    const { code, text, error } = await drain(api);
    assert.equal(code, 0, error);
    assert.deepEqual(api.writes, [
      'cordon old-1',
      'cordon old-2',
      'evict shop/cart-a',
      ...['read cart', 'read cart', 'read cart'],
      'evict shop/cart-b',
      ...['read cart', 'read cart', 'read cart'],
    ]);
    assert.match(text, /^Node old-1: settling, .* Deployment shop\/cart$/m);
    assert.match(text, /^Node old-1: drained\nNode old-2: draining, 1 pod left$/m);
    assert.match(text, / {2}\$ kubectl delete windowspool old$/);
    assert.deepEqual(cordoned(api), ['old-1', 'old-2']);
  });

  it('drains existing nodes, too, and does not delete the pool', async () => {
    const api = sameVersion();
    const old = existingPool({}, { metadata: { name: 'old' }, status: knownStatus() });
    api.pools = [old, NEW];
    recreating(api);
    const { code, text } = await drain(api);
    assert.equal(code, 0, text);
    assert.deepEqual(cordoned(api), ['old-1', 'old-2']);
    assert.match(text, /Its nodes stay: .*\n {2}\$ kubectl delete windowspool old$/);
  });

  it('asks, and changes nothing without a yes', async () => {
    const api = sameVersion();
    const { code, error, text } = await drain(api, { answer: 'n' });
    assert.deepEqual([code, error, api.writes], [3, 'Canceled. Nothing was changed.', []]);
    assert.match(text, /\nDrain pool old\? \[y\/N\] $/);
  });

  it('has nothing to ask when everything is drained', async () => {
    const api = sameVersion();
    recreating(api);
    await drain(api);
    api.writes.splice(0);
    const { code, text } = await drain(api, { answer: '' });
    assert.deepEqual([code, api.writes], [0, []]);
    assert.match(text, /All nodes of pool old are drained and cordoned\./);
  });

  it('refuses while a workload cannot run in the new pool, and leaves its pods Pending with --allow-pending', async () => {
    const pinned = { ...ON_2022, nodeSelector: { 'winpool.dev/pool': 'old' } };
    const api = sameVersion((its) => {
      its.objects.set('deployments', [template('cart', pinned, { readyReplicas: 2 })]);
    });
    const refused = await drain(api);
    assertNames(refused.error, '1 workload', 'Deployment shop/cart');
    assert.deepEqual(api.writes, []);
    const forced = await drain(api, { allowsPending: true });
    assert.equal(forced.code, 0, forced.error);
    assert.deepEqual(api.writes, ['cordon old-1', 'cordon old-2', 'evict shop/cart-a', 'evict shop/cart-b']);
    assert.match(forced.text, /The pods of 1 workload stay\nPending until you change them\./);
  });

  it('waits for a PodDisruptionBudget', async () => {
    const api = sameVersion();
    let blocked = 3;
    api.intercept = (_, path) => (path.endsWith('/eviction') && blocked-- > 0 ? blockedBy('cart') : undefined);
    recreating(api);
    const { code, text } = await drain(api);
    assert.equal(code, 0, text);
    assert.match(text, /^Node old-1: draining, 1 pod left, .* PodDisruptionBudget cart \(shop\/cart-a\)$/m);
    assert.equal(api.writes.filter((write) => write === 'evict shop/cart-a').length, 1);
  });

  it('continues where it was interrupted', async () => {
    const api = sameVersion();
    recreating(api);
    const stopping = new AbortController();
    const { onEvicted } = api;
    api.onEvicted = (evicted) => {
      onEvicted(evicted);
      stopping.abort(new DOMException('stopped by SIGINT', 'AbortError'));
    };
    const first = await drain(api, { signal: stopping.signal });
    assert.equal(first.code, 130);
    assertNames(
      first.text,
      'Drained: 0 of 2',
      '$ kubectl windowspool migrate old new --drain\n',
      /\$ kubectl uncordon --selector winpool\.dev\/pool=old$/,
    );
    api.writes.splice(0);
    api.onEvicted = onEvicted;
    const { code } = await drain(api);
    assert.deepEqual([code, api.writes.filter((write) => write !== 'read cart')], [0, ['evict shop/cart-b']]);
  });

  it('cordons a node that joins meanwhile, and goes on when one is deleted', async () => {
    const api = sameVersion();
    recreating(api);
    const { onEvicted } = api;
    api.onEvicted = (evicted) => {
      onEvicted(evicted);
      if (evicted.metadata.name !== 'cart-a') return;
      const [joined] = nodesOf(OLD, 1).map(
        (node): NodeRecord => ({ ...node, name: 'old-9', uid: 'uid-9', labels: { ...node.labels } }),
      );
      api.nodes = [...api.nodes.filter(({ name }) => name !== 'old-1'), ...(joined ? [joined] : [])];
    };
    const { code, text } = await drain(api);
    assert.equal(code, 0, text);
    assert.deepEqual(cordoned(api), ['old-2', 'old-9']);
    assert.match(text, /^Node old-1: gone$/m);
    assert.match(text, /^Node old-9: drained$/m);
  });

  it('continues after errors that pass, and when the workload was deleted', async () => {
    const api = sameVersion();
    recreating(api);
    let failures = 2;
    const other = api.intercept;
    api.intercept = (method, path, query) => {
      if (path.endsWith('/eviction') && failures-- > 0)
        return failure(503, 'ServiceUnavailable', 'the server is overloaded');
      if (method === 'GET' && path.endsWith('/deployments/cart')) return failure(404, 'NotFound', 'not found');
      return other(method, path, query);
    };
    const { code, text } = await drain(api);
    assert.equal(code, 0, text);
    assert.match(text, /^the server is overloaded\. Retrying\.$/m);
  });

  it('starts no node while the operator replaces nodes or the new pool is not Ready', async () => {
    const api = sameVersion();
    recreating(api);
    const ready = api.pools;
    const [old = OLD] = ready;
    const disrupted = {
      ...old,
      status: { ...old.status, disruption: { reason: 'Update' as const, startTime: '2026-03-01T11:00:00Z' } },
    };
    const states = [
      [disrupted, NEW],
      [old, readyPool('new', {}, { nodes: [] })],
    ];
    let reads = 0;
    const other = api.intercept;
    api.intercept = (method, path, query) => {
      // The first two reads are those of the report.
      if (path.endsWith('/windowspools')) api.pools = states[Math.floor(reads++ / 4 - 0.5)] ?? ready;
      return other(method, path, query);
    };
    const { code, text } = await drain(api);
    assert.equal(code, 0, text);
    assert.match(text, /^No other node .* replacing nodes of pool old\.$/m);
    assert.match(text, /^No other node is drained while pool new is not Ready: /m);
  });

  const short = readyPool('old', { disruption: { maxUnavailable: 1, drain: { timeout: '1s' } } });
  const stops: readonly (readonly [what: string, change: (api: FakeApi) => void, message: RegExp])[] = [
    [
      'a pod stays for longer than the drain timeout',
      (api) => {
        api.intercept = (_, path) => (path.endsWith('/eviction') ? blockedBy('cart') : undefined);
      },
      /^Node old-1 .* 1 pod after 1 second .* PodDisruptionBudget cart \(shop\/cart-a\)\.\nDrained: 0 of 2 /,
    ],
    [
      'the pods do not become ready',
      (api) => recreating(api, 1_000_000),
      /^Node old-1 is empty after 1 second .* Deployment shop\/cart\.\nDrained: 0 of 2 /,
    ],
    [
      'the API server fails for longer than the drain timeout',
      (api) => {
        api.intercept = (method) =>
          method === 'PATCH' ? failure(503, 'ServiceUnavailable', 'the server is overloaded') : undefined;
      },
      /^the server is overloaded\. .* 1 second \(disruption\.drain\.timeout\)\.\nDrained: 0 of 0 /,
    ],
    [
      'evictions become forbidden',
      (api) => {
        api.intercept = (_, path) =>
          path.endsWith('/eviction') ? failure(403, 'Forbidden', 'pods "cart-a" is forbidden') : undefined;
      },
      /^Permission denied: pods "cart-a" is forbidden\..*\nDrained: 0 of 2 /,
    ],
    [
      'a bare pod starts on a node',
      (api) => {
        const bare = pod('bare', 'old-1', undefined, ON_2022);
        api.intercept = (method) => {
          if (method === 'PATCH' && !api.objects.get('pods')?.includes(bare)) api.add('pods', bare);
          return undefined;
        };
      },
      /^Node old-1: 1 pod .*: shop\/bare has no controller/,
    ],
  ];
  for (const [what, change, message] of stops)
    it(`stops when ${what}, and says how to continue`, async () => {
      const api = sameVersion((its) => {
        its.pools = [short, NEW];
      });
      change(api);
      const { code, error } = await drain(api);
      assert.equal(code, 1);
      assert.match(error, message);
    });

  it('names the missing permissions before it asks', async () => {
    const api = sameVersion();
    api.denied.add('patch nodes').add('create pods/eviction');
    const { code, error } = await drain(api, { answer: 'y' });
    assert.deepEqual([code, api.writes], [1, []]);
    assertNames(error, 'Permission denied', 'patch nodes and create pods/eviction in namespace shop');
  });
});
