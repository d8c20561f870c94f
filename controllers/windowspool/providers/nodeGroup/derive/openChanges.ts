/** The first stage: what is to be changed, whatever became of earlier attempts. Pure. */

import type { Creation, EksDue, OpenConfig, OpenVersion } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf } from '../observation/knownGroups.ts';
import { openConfigOf, openTagsOf, preparationIn } from './configChange.ts';
import { groupDifferencesOf } from './groupDifferences.ts';
import { replacementDue } from './replacementDue.ts';
import { rollbackOf } from './rollback.ts';
import { desiredCreation, desiredTemplate } from './targets.ts';
import { followedTemplateOf, openVersionOf } from './versionChange.ts';

/** The changes of a node group that are open. */
export interface OpenChanges
  extends Pick<EksDue, 'template' | 'differences' | 'followedTemplate' | 'rollback' | 'tags' | 'replacement'> {
  readonly creation: Creation;
  readonly version: OpenVersion | undefined;
  readonly config: OpenConfig | undefined;
  /** The part of `config` that must be sent before `version`. */
  readonly preparation: OpenConfig | undefined;
}

/** The changes that are open for the group, as far as it is known. */
export function openChangesOf(s: EksState): OpenChanges {
  const differences = groupDifferencesOf(s);
  const template = desiredTemplate(s, groupOf(s));
  const followedTemplate = followedTemplateOf(s, differences, template);
  const rollback = rollbackOf(s);
  const version = openVersionOf(s, { differences, template, followedTemplate, rollback });
  const config = openConfigOf(s, differences);
  const preparation = version && config && preparationIn(s, config);
  const tags = openTagsOf(s, differences);
  const replacement = replacementDue(s, differences);
  const creation = desiredCreation(s);
  return {
    creation,
    template,
    differences,
    followedTemplate,
    rollback,
    version,
    config,
    preparation,
    tags,
    replacement,
  };
}
