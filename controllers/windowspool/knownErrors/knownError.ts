/** The form of an entry of the catalogue. */

/** Messages about one subject. */
export interface Subject {
  /** In the plural. */
  readonly name: string;
  readonly pattern: RegExp;
}

/** A known error. */
export interface KnownError {
  /** Searchable, as the reason of a condition. */
  readonly name: string;
  /** The components that write the message, with their versions where they differ. */
  readonly writtenBy: string;
  readonly pattern: RegExp;
  /** The words mean this only in messages about the subject: each connection can be refused, not only that to a registry. */
  readonly within?: Subject;
  /** A sentence. */
  readonly cause: string;
  /** Sentences. If the error has several causes, also how to tell them apart. */
  readonly remedy: string;
  /** The message has other causes, too. */
  readonly isPossible?: true;
  /** Waiting does not help: a new node with it fails at once. */
  readonly isLasting?: true;
  /** Follows another error, which explains more if it is present. */
  readonly isGeneric?: true;
  readonly source: string;
}
