/**
 * A stand-in for the Node Readiness Controller, which cannot be installed here: its Go module is not in the module proxy. It does what the
 * documentation of the project says about rules with matchLabels, conditions, a taint and both enforcement modes, and nothing else:
 * https://github.com/kubernetes-sigs/node-readiness-controller. The annotation is that of its version 0.4:
 * https://github.com/kubernetes-sigs/node-readiness-controller/issues/382
 */
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { watchEvents } from '../fakes/testenv/watchEvents.ts';

interface NodeReadinessRule {
  readonly metadata: { readonly uid: string };
  readonly spec: {
    readonly nodeSelector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly conditions: readonly { readonly type: string; readonly requiredStatus: string }[];
    readonly taint: { readonly key: string; readonly effect: string };
    readonly enforcementMode: 'bootstrap-only' | 'continuous';
  };
}

const text = { type: 'string' };

/** The part of the API that the stand-in reads. */
export const nodeReadinessRuleCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'nodereadinessrules.readiness.node.x-k8s.io',
    // The API server accepts a group under k8s.io only with this annotation.
    annotations: { 'api-approved.kubernetes.io': 'unapproved, a copy of the fields for tests' },
  },
  spec: {
    group: 'readiness.node.x-k8s.io',
    scope: 'Cluster',
    names: { kind: 'NodeReadinessRule', plural: 'nodereadinessrules', singular: 'nodereadinessrule' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['nodeSelector', 'conditions', 'taint', 'enforcementMode'],
                properties: {
                  nodeSelector: {
                    type: 'object',
                    properties: { matchLabels: { type: 'object', additionalProperties: text } },
                  },
                  conditions: {
                    type: 'array',
                    items: { type: 'object', properties: { type: text, requiredStatus: text } },
                  },
                  taint: {
                    type: 'object',
                    properties: {
                      key: { type: 'string', pattern: '^readiness\\.k8s\\.io/' },
                      value: text,
                      effect: text,
                    },
                  },
                  enforcementMode: { type: 'string', enum: ['bootstrap-only', 'continuous'] },
                },
              },
            },
          },
        },
      },
    ],
  },
};

/** Applies the rules that exist now to every node, until it is stopped. */
export async function startReadinessController(world: Pick<TestEnv, 'controlPlane' | 'kubectl'>) {
  const rules: readonly NodeReadinessRule[] = JSON.parse(
    await world.kubectl('get', 'nodereadinessrules', '-o', 'json'),
  ).items;
  let work = Promise.resolve();
  // Events may be older than the last change of the stand-in.
  const enforceAll = async (name: string) => {
    for (const rule of rules) {
      const text = await world.kubectl('get', 'node', name, '-o', 'json', '--ignore-not-found');
      if (text !== '') await enforce(rule, JSON.parse(text));
    }
  };
  const enforce = async (
    { metadata, spec }: NodeReadinessRule,
    { metadata: { name, ...meta }, ...node }: Stored<V1Node>,
  ) => {
    const isSelected = Object.entries(spec.nodeSelector.matchLabels).every(
      ([key, value]) => meta.labels?.[key] === value,
    );
    const completed = `readiness.k8s.io/bootstrap-completed-${metadata.uid}`;
    if (!isSelected || meta.annotations?.[completed]) return;
    const isReady = spec.conditions.every(({ type, requiredStatus }) =>
      node.status.conditions?.some((found) => found.type === type && found.status === requiredStatus),
    );
    const { key, effect } = spec.taint;
    const isTainted = node.spec.taints?.some((found) => found.key === key && found.effect === effect) === true;
    if (isTainted === isReady) await world.kubectl('taint', 'node', name, `${key}:${effect}${isReady ? '-' : ''}`);
    if (isReady && spec.enforcementMode === 'bootstrap-only')
      await world.kubectl('annotate', 'node', name, `${completed}=true`);
  };
  const watch = await watchEvents<Stored<V1Node>>(
    world.controlPlane.adminKubeconfig,
    '/api/v1/nodes',
    ({ type, object }) => {
      if (type !== 'DELETED') work = work.then(() => enforceAll(object.metadata.name));
    },
  );
  return {
    async stop(): Promise<void> {
      await watch.stop();
      await work;
    },
  };
}
