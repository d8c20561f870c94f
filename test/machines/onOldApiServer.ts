import { startOldApiServer } from '../engine/oldApiServer.ts';
import type { OperatorFixture } from '../sharedWorld.ts';

/** Runs `probe` with an operator whose API server has no watch lists, as before Kubernetes 1.34: it lists what others only watch. */
export async function onOldApiServer(fixture: OperatorFixture, probe: () => Promise<unknown>): Promise<void> {
  const { controlPlane, operatorKubeconfig } = fixture.world;
  await fixture.operator.stop();
  try {
    await using old = await startOldApiServer(controlPlane, operatorKubeconfig);
    const operator = fixture.world.operator(['--leader-elect=false', '--poll-interval=200ms'], {
      credentials: old.kubeconfig,
    });
    try {
      await operator.ready();
      await probe();
    } finally {
      await operator.stop();
    }
  } finally {
    await fixture.restart();
  }
}
