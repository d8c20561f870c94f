/** The rules for the nodes of a pool that lives. */
import type { Situation } from './situation.ts';
import type { Step } from './steps.ts';
import { parseKernelVersion, WINDOWS_BUILD_LABEL } from './windows.ts';

/** Ensures that the label by which pods are placed says what the kernel is: old kubelets lack it, patched ones lag behind. */
export function correctBuildLabels({ nodes }: Situation): Step[] | undefined {
  return nodes.flatMap((node): Step[] => {
    const build = parseKernelVersion(node.kernelVersion)?.build;
    if (!build || node.deleting || node.labels[WINDOWS_BUILD_LABEL] === build) return [];
    return [{ kind: 'labelNode', node, build }];
  });
}
