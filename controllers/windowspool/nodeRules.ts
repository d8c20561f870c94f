/** The rules for the nodes of a pool that lives. */
import type { Situation } from './situation.ts';
import type { Step } from './steps.ts';
import { parseKernelVersion } from './windows.ts';

/** Ensures that the label by which pods are placed says what the kernel is: old kubelets lack it, patched ones lag behind. */
export function correctBuildLabels({ roster }: Situation): Step[] | undefined {
  return roster.mislabelled.flatMap((node): Step[] => {
    const build = parseKernelVersion(node.kernelVersion)?.build;
    return build ? [{ kind: 'labelNode', node, build }] : [];
  });
}
