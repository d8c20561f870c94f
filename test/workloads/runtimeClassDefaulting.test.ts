/** The policy of config/policies/runtime-class-defaulting on a real API server, together with a webhook that is called once, like that of the VPC CNI. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { selfSigned } from '../../cmd/operator/serving/selfSigned.ts';
import { chosenSeries } from '../../hack/controlplane/binaries.ts';
import { type ControlPlane, startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { container, RUNTIME_CLASSES, SELECTOR, workload } from './build.ts';
import { type Answer, WarningsClient } from './warningsClient.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const POLICY = join(ROOT, 'config/policies/runtime-class-defaulting');
/** From this version on, the API server has MutatingAdmissionPolicies of admissionregistration.k8s.io/v1. */
const HAS_API = chosenSeries() === '1.36';
/** What the API server adds for the RuntimeClass windows-2022. */
const SCHEDULING = RUNTIME_CLASSES.find(({ metadata }) => metadata.name === 'windows-2022')?.scheduling;
const REQUEST = 'vpc.amazonaws.com/PrivateIPv4Address';
const WINDOWS = { os: { name: 'windows' } };

interface Pod {
  readonly spec: {
    readonly runtimeClassName?: string;
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations?: readonly { readonly key?: string }[];
  };
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}

describe('RuntimeClass defaulting', function () {
  this.timeout(120_000);
  let plane: ControlPlane;
  let client: WarningsClient;
  let server: Server;
  /** The nodeSelectors of the pods for which the API server called the webhook. */
  const seen: unknown[] = [];

  before(async () => {
    const pair = selfSigned([], Date.now());
    server = createServer(pair, async (request, response) => {
      const { apiVersion, kind, request: review } = (await json(request)) as Review;
      const { nodeSelector } = review.object.spec;
      seen.push(nodeSelector ?? {});
      const isWindows = nodeSelector?.['kubernetes.io/os'] === 'windows';
      const patch = [{ op: 'add', path: '/metadata/annotations', value: { [REQUEST]: 'requested' } }];
      const patched = { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
      const result = { uid: review.uid, allowed: true, ...(isWindows && patched) };
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ apiVersion, kind, response: result }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    plane = await startControlPlane();
    client = await WarningsClient.connect(plane);
    const namespaces = [namespace('plain', {}), namespace('labelled', { 'winpool.dev/runtime-class': 'windows-2022' })];
    const unknown = namespace('unknown', { 'winpool.dev/runtime-class': 'windows-2016' });
    await apply(...RUNTIME_CLASSES, ...namespaces, unknown, webhook((server.address() as AddressInfo).port, pair.cert));
    for (const name of ['plain', 'labelled', 'unknown'])
      await waitFor(async () => isRequested(await answerTo(name, { nodeSelector: SELECTOR })), {
        what: `the ServiceAccount of the namespace ${name}, and a call to the webhook`,
      });
  });
  after(async () => {
    await plane?.stop();
    server?.close();
  });

  const apply = (...items: readonly object[]) =>
    plane.kubectlOutput(['apply', '-f', '-'], { stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });

  const answerTo = (name: string, fields: object): Promise<Answer> => {
    const pod = workload('Pod', { containers: [container()], ...fields });
    return client.create({ ...pod, metadata: { ...pod.metadata, namespace: name } });
  };

  /** The pod as the API server would store it. */
  async function create(name: string, fields: object): Promise<Pod> {
    const { status, body } = await answerTo(name, fields);
    assert.equal(status, 201, body.message);
    return body as Pod;
  }

  if (!HAS_API) {
    it('cannot be installed on an API server without MutatingAdmissionPolicies, and changes nothing', async () => {
      const { code, stderr } = await plane.kubectl(['apply', '-k', POLICY]);
      assert.equal(code, 1);
      assert.match(stderr, /no matches for kind "MutatingAdmissionPolicy"/);
      assert.equal((await create('labelled', WINDOWS)).spec.runtimeClassName, undefined);
    });
    return;
  }

  describe('with the policy', () => {
    before(async () => {
      await plane.kubectlOutput(['apply', '-k', POLICY]);
      await waitFor(async () => (await create('labelled', WINDOWS)).spec.runtimeClassName, {
        what: 'the policy to be in force',
      });
    });

    it('sets the RuntimeClass and the selector, to which the API server adds those of the RuntimeClass', async () => {
      const { spec, metadata } = await create('labelled', WINDOWS);
      assert.equal(spec.runtimeClassName, 'windows-2022');
      assert.deepEqual(spec.nodeSelector, SCHEDULING?.nodeSelector);
      assert.deepEqual(
        spec.tolerations?.filter(({ key }) => key === 'os'),
        SCHEDULING?.tolerations,
      );
      assert.equal(metadata.annotations?.[REQUEST], 'requested');
    });

    it('gives the selector to a webhook that is called once, before the RuntimeClass is applied', async () => {
      seen.length = 0;
      await create('labelled', WINDOWS);
      assert.deepEqual(seen, [SELECTOR]);
    });

    const unchanged: readonly (readonly [what: string, namespace: string, fields: object])[] = [
      ['a Windows pod in a namespace without the label', 'plain', WINDOWS],
      ['a pod without os.name', 'labelled', {}],
      ['a Linux pod', 'labelled', { os: { name: 'linux' } }],
      ['a Windows pod by its selector', 'labelled', { nodeSelector: SELECTOR }],
    ];
    for (const [what, name, fields] of unchanged) {
      it(`does not change ${what}`, async () => {
        const { spec } = await create(name, fields);
        const { nodeSelector } = fields as { readonly nodeSelector?: object };
        assert.deepEqual([spec.runtimeClassName, spec.nodeSelector], [undefined, nodeSelector]);
      });
    }

    it('keeps a RuntimeClass and a selector that the pod has', async () => {
      const other = await create('labelled', { ...WINDOWS, runtimeClassName: 'windows-2025' });
      assert.equal(other.spec.runtimeClassName, 'windows-2025');
      assert.equal(other.spec.nodeSelector?.['node.kubernetes.io/windows-build'], '10.0.26100');
      const selected = await create('labelled', { ...WINDOWS, nodeSelector: { team: 'shop' } });
      assert.deepEqual(selected.spec.nodeSelector, { ...SCHEDULING?.nodeSelector, team: 'shop' });
      const complete = { ...WINDOWS, runtimeClassName: 'windows-2022', nodeSelector: SELECTOR };
      assert.deepEqual((await create('labelled', complete)).spec.nodeSelector, SCHEDULING?.nodeSelector);
    });

    it('leaves the rejection of an unknown RuntimeClass to the API server', async () => {
      const { status, body } = await answerTo('unknown', WINDOWS);
      assert.equal(status, 403);
      assert.match(body.message ?? '', /RuntimeClass "windows-2016" not found/);
    });
  });
});

function isRequested({ body }: Answer): boolean {
  return (body.metadata as Pod['metadata'] | undefined)?.annotations?.[REQUEST] === 'requested';
}

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string; readonly object: Pod };
}

const namespace = (name: string, labels: object) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});

function webhook(port: number, certificate: string): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'addresses' },
    webhooks: [
      {
        name: 'addresses.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        reinvocationPolicy: 'Never',
        failurePolicy: 'Fail',
        timeoutSeconds: 10,
        clientConfig: {
          url: `https://127.0.0.1:${port}/`,
          caBundle: Buffer.from(certificate).toString('base64'),
        },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }],
      },
    ],
  };
}
