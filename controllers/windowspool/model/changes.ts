/** What differs between a node group and its spec, and the tag changes that correct it. */

/** A field in which the group differs. */
export interface Difference {
  /** `label team`, `taint gpu:NoSchedule`, `scaling`, `tag cost`, `version`, `release` or `update strategy`. */
  readonly field: string;
  /** What the spec says; undefined: the spec no longer has the field. */
  readonly wanted: string | undefined;
  /** What the group has; undefined: nothing. */
  readonly found: string | undefined;
  /** The group had what the spec says, and somebody else changed it; or it never had, because it was adopted so. */
  readonly isDrift: boolean;
}

export interface TagChange {
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}

/** The tags to write to a scaling group and to take from it, with their whole keys. */
export interface ScalingTagChange {
  readonly scalingGroup: string;
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}
