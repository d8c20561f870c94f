/** Images that the operator pulls on new nodes before it verifies them. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { image, withNodePods } from './nodePodsFixture.ts';

const POOL = 'pulling';
const CORE = image('servercore');
const BARE = image('without-cmd');

const DONE = { pull: { terminated: { exitCode: 0, reason: 'Completed' } } };
const NOT_FOUND = {
  pull: { waiting: { reason: 'ErrImagePull', message: `rpc error: code = NotFound desc = ${CORE}: not found` } },
};
const NOT_STARTED = {
  pull: { terminated: { exitCode: 128, reason: 'StartError', message: 'The system cannot find the file specified.' } },
};

describe('a pool that pulls images on its new nodes', () => {
  const { fixture, running, working, report, untilNone, becomes, gated } = withNodePods('--join-grace=5s');

  before(() =>
    fixture.world.apply(
      poolManifest(POOL, {
        verification: { policy: 'Gate', requiredImages: [CORE, BARE], imagePrePull: {} },
        nodeGroup: { scaling: { minSize: 1, maxSize: 3, desiredSize: 1 } },
      }),
    ),
  );

  it('reports a pull that fails after the join grace, and the node stays behind the gate', async () => {
    const pod = await running(POOL, CORE);
    await report(pod, 'Pending', NOT_FOUND);
    await becomes(POOL, 'NodesVerified', 'False/ImagePullFailed');
    const message = messageOf(await fixture.world.pool(POOL), 'NodesVerified');
    assertNames(message, pod.spec.nodeName ?? '', `${CORE}: not found`);
    const path = '{.status.conditions[?(@.type=="winpool.dev/Verified")].message}';
    const reported = await fixture.world.kubectl('get', 'node', pod.spec.nodeName ?? '', `--output=jsonpath=${path}`);
    assertNames(reported, `${CORE}: not found`, `lacks 1 of 2 images of verification.requiredImages: ${BARE}`);
    assert.deepEqual(await gated(POOL), [pod.spec.nodeName]);
  });

  it('continues with the same pod after a restart of the operator', async () => {
    const [before] = await working(POOL);
    await fixture.operator.kill();
    await fixture.restart();
    const pod = await running(POOL, CORE);
    assert.equal(pod.metadata.uid, before?.metadata.uid);
    await report(pod, 'Succeeded', DONE);
  });

  it('pulls the next image, counts one without cmd.exe as pulled, opens the gate, and leaves no pod', async () => {
    const pod = await running(POOL, BARE);
    await report(pod, 'Failed', NOT_STARTED);
    await becomes(POOL, 'Ready', 'True/EnoughNodesVerified');
    await untilNone(POOL);
    await waitFor(async () => (await gated(POOL)).length === 0, { what: 'the gate to open' });
    const event = async () => (await fixture.world.notesOf('ImageNotStarted')).join(' ') || undefined;
    const message = await waitFor(event, { what: 'an event' });
    assertNames(message, BARE, '1 node', pod.spec.nodeName ?? '', 'cmd.exe');
  });
});
