/** What differs between a node group and its spec, and the tag changes that correct it. */

/** A field in which the group differs. */
export interface Difference {
  /** `label team`, `taint gpu:NoSchedule`, `scaling`, `tag cost`, `version`, `release`, `template disk.sizeGiB`, `update strategy` or `warmPool`. */
  readonly field: string;
  /** The value in the spec; undefined: the spec no longer has the field. */
  readonly wanted: string | undefined;
  /** The value of the group; undefined: it has none. */
  readonly found: string | undefined;
  /** Whether the group differs without a change of the spec: another client changed it, or it was adopted that way. */
  readonly isDrift: boolean;
}

/** Tags to set on a node group and to remove from it. */
export interface TagChange {
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}

/** Tags to set on a scaling group and to remove from it, with their full keys. */
export interface ScalingTagChange {
  readonly scalingGroup: string;
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}
