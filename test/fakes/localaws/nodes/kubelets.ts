import { mayGiveAddresses } from '../iam/roles.ts';
import type { LocalAwsState } from '../state.ts';
import { ApiServer } from './apiServer.ts';
import { ClusterSettings } from './clusterSettings.ts';
import { followSettings } from './followSettings.ts';
import { IpamGate } from './ipamGate.ts';
import { NodeQueues } from './nodeQueues.ts';
import { nodeStep } from './nodeSteps.ts';
import { untilDone } from './untilDone.ts';

/** The kubelets of all instances. */
export interface Kubelets {
  /** Permanent failures. */
  problems(): readonly string[];
  /** Stops writing; existing Nodes remain. */
  stop(): Promise<void>;
}

/**
 * Creates, changes and deletes Nodes in the cluster of the kubeconfig according to the instances. The writes of one node are made in order
 * and retried until they succeed, also across a restart of the API server; nodes do not wait for each other.
 */
export function startKubelets(cloud: LocalAwsState, kubeconfig: string): Kubelets {
  const server = new ApiServer(kubeconfig);
  const problems: string[] = [];
  const problem = (error: unknown) => {
    problems.push(String(error instanceof Error ? error.message : error));
  };
  const stopping = new AbortController();
  const settings = new ClusterSettings(cloud, server);
  const nodes = new NodeQueues(
    (event, signal) => untilDone(() => nodeStep(cloud, server, event, signal), signal),
    problem,
    stopping.signal,
  );
  const gate = new IpamGate(
    async () => (await settings.windowsIpam(stopping.signal)) && mayGiveAddresses(cloud),
    (event) => nodes.add(event),
    stopping.signal,
  );
  cloud.onNodeEvent((event) => {
    if (event.kind === 'podAddresses') gate.wait(event);
    else nodes.add(event);
  });
  const settled = followSettings(cloud, settings, problem, stopping.signal);
  return {
    problems: () => [...problems],
    stop: async () => {
      stopping.abort();
      await Promise.allSettled([...nodes.tails(), settled()]);
      await server.close();
    },
  };
}
