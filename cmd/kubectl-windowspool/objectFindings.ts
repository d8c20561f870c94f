/** Findings that are no rules about pods: about API versions, handlers of RuntimeClasses, and the taints of the nodes of a cluster. Pure. */
import type { V1PodSpec } from '@kubernetes/client-node';
import type { NodeRecord, Taint } from '../../controllers/windowspool/ports/nodes.ts';
import type { Toleration } from '../../controllers/windowspool/ports/runtimeClasses.ts';
import { describeTaint, untolerated } from '../../controllers/windowspool/runtimeClass/runtimeClass.ts';
import { type Finding, rawPodSpecOf } from '../../controllers/workloads/lint.ts';
import type { Manifest } from './lintResult.ts';
import type { ClusterRuntimeClass } from './runtimeClasses.ts';
import { WORKLOADS } from './workloadLists.ts';

/** Removed API versions, which old samples for Windows still have. */
const REMOVED =
  /^(extensions[/]v1beta1|apps[/]v1beta[12]|batch[/]v(1beta1|2alpha1)|node[.]k8s[.]io[/]v1(alpha|beta)1)$/;
const SERVED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(WORKLOADS).map(([kind, [apiVersion]]) => [kind, apiVersion])),
  RuntimeClass: 'node.k8s.io/v1',
};

/** The finding about an API version that no Kubernetes since 1.25 serves. */
export function versionFindings({ apiVersion, kind }: Manifest): readonly Finding[] {
  if (typeof apiVersion !== 'string' || !REMOVED.test(apiVersion)) return [];
  const text = `No Kubernetes since 1.25 serves ${String(kind)} in ${apiVersion}. Use ${SERVED[String(kind)]}.`;
  return [failure('APIVersionRemoved', text, 'https://kubernetes.io/docs/reference/using-api/deprecation-guide/')];
}

/** Of dockershim, which no Kubernetes since 1.24 has. Other handlers can be in the configuration of containerd. */
const DOCKER = 'docker';
const CLASSES = 'https://kubernetes.io/docs/concepts/containers/runtime-class/';

/** The finding about the handler of a RuntimeClass that selects Windows. */
export function handlerFindings(handler: unknown): readonly Finding[] {
  if (handler !== DOCKER) return [];
  const text = 'containerd does not have the handler docker, so every pod of the class fails. Use runhcs-wcow-process.';
  return [failure('DockerHandler', text, CLASSES)];
}

const TAINTS = 'https://kubernetes.io/docs/concepts/windows/user-guide/#taints-and-tolerations';

/** The finding about a template whose pods tolerate the taint `os` of none of the Windows nodes that they select. */
export function taintFindings(
  manifest: Manifest,
  classes: readonly ClusterRuntimeClass[],
  nodes: readonly NodeRecord[],
): readonly Finding[] {
  const spec: Partial<V1PodSpec> = rawPodSpecOf(manifest) ?? {};
  const { scheduling } = classes.find(({ metadata }) => metadata.name === spec.runtimeClassName) ?? {};
  const labels = Object.entries({ ...scheduling?.nodeSelector, ...spec.nodeSelector, 'kubernetes.io/os': 'windows' });
  const tolerations = [...((spec.tolerations ?? []) as readonly Toleration[]), ...(scheduling?.tolerations ?? [])];
  let missing: Taint | undefined;
  const isAccepted = nodes.some((node) => {
    if (labels.some(([key, value]) => node.labels[key] !== value)) return false;
    const taint = untolerated(node.taints, tolerations).find(
      ({ key, effect }) => key === 'os' && effect === 'NoSchedule',
    );
    missing ??= taint;
    return taint === undefined;
  });
  if (isAccepted || !missing) return [];
  const text = `The pods do not tolerate the taint ${describeTaint(missing)}, which all Windows nodes that they select have, so they stay Pending. Set runtimeClassName, or add the toleration.`;
  return [failure('NoToleration', text, TAINTS)];
}

function failure(rule: string, message: string, source: string): Finding {
  return { ...{ rule, names: [], source, grade: 'fails' }, message: `${rule}: ${message}` };
}
