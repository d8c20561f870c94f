/** The first stage: what is to be changed, whatever became of earlier attempts. Pure. */
import type { OpenConfig, OpenVersion } from '../../../model/due.ts';
import type { ObservedState } from '../../../model/observedState.ts';
import { openConfigOf, preparationIn } from './configChange.ts';
import { replacementDue } from './replacementDue.ts';
import { openVersionOf } from './versionChange.ts';

/** The changes of a node group that are open. */
export interface OpenChanges {
  readonly version: OpenVersion | undefined;
  readonly config: OpenConfig | undefined;
  /** The part of `config` that must be sent before `version`. */
  readonly preparation: OpenConfig | undefined;
  /** The differences for which another group has to replace the main one, in words. */
  readonly replacement: readonly string[];
}

/** The changes that are open for the group, as far as it is known. */
export function openChangesOf(s: ObservedState): OpenChanges {
  const version = openVersionOf(s);
  const config = openConfigOf(s);
  const preparation = version && config && preparationIn(s, config);
  return { version, config, preparation, replacement: replacementDue(s) };
}
