/** What a diagnosis is based on, and what it consists of. */
import type { V1Pod } from '@kubernetes/client-node';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { causeOf, type Explained } from '../../controllers/windowspool/knownErrors/explain.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import { sentence } from '../../controllers/windowspool/util/words.ts';
import type { LintedRuntimeClass } from '../../controllers/workloads/lint.ts';

/** Why a pod does not run, and what to do. */
export interface Cause {
  readonly what: string;
  readonly remedy?: string;
  readonly command?: string;
}

export interface Diagnosis {
  readonly pod: string;
  readonly phase: string;
  readonly node?: string;
  /** The most probable first. */
  readonly causes: readonly Cause[];
}

/** What a diagnosis is based on. */
export interface Evidence {
  readonly pod: Wire<V1Pod>;
  readonly runtimeClasses: readonly LintedRuntimeClass[];
  /** All Windows nodes; undefined if they are unknown. */
  readonly nodes: readonly NodeRecord[] | undefined;
  /** `REASON: MESSAGE` of the events of the pod that report a problem, the latest first. */
  readonly warnings: readonly string[];
  /** The same of the warnings of Windows nodes, such as those of the VPC resource controller. */
  readonly nodeWarnings?: readonly NodeWarning[];
}

export interface NodeWarning {
  readonly node: string;
  readonly text: string;
}

/** The warnings of one node. */
export function warningsOfNode({ nodeWarnings = [] }: Evidence, name: string | undefined): string[] {
  return nodeWarnings.filter(({ node }) => node === name).map(({ text }) => text);
}

/** The states of the containers of a pod: those of init containers first. */
export function statusesOf(status: Wire<V1Pod>['status']) {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

/** The cause that a known error shows. `details`: what is known of it here, in sentences that begin with a space. */
export function causeOfError({ error, message }: Explained, details = ''): Cause {
  return { what: `${causeOf(error)}${details} ${error.remedy}`, remedy: `The message: ${sentence(message)}` };
}
