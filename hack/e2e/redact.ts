/** Removes identities and secrets of the account from a text. The behavior of AWS remains readable. */
import { createHash, randomBytes } from 'node:crypto';

/** Removes IDs and secrets from texts, and always uses the same stand-in for the same ID. */
export class Redactor {
  readonly #salt: string;
  readonly #names: readonly (readonly [name: RegExp, standIn: string])[];

  /** `names` are the caller's own names, such as that of the cluster, with their replacements. The salt prevents guessing of IDs. */
  constructor(names: Readonly<Record<string, string>> = {}, salt = randomBytes(16).toString('hex')) {
    this.#salt = salt;
    // A name may contain another one.
    this.#names = Object.entries(names)
      .filter(([name]) => name.length > 2)
      .sort(([a], [b]) => b.length - a.length)
      .map(([name, standIn]) => [wholeName(name), standIn]);
  }

  /** The text without account ids, identities, keys, tokens, addresses, home folders and the given names, and with ids of resources hashed. */
  text(text: string): string {
    let clean = text;
    for (const [pattern, standIn] of PATTERNS)
      clean = clean.replace(pattern, (found: string, kind: string) =>
        typeof standIn === 'string' ? standIn : standIn(typeof kind === 'string' ? kind : '', this.#hash(found)),
      );
    for (const [name, standIn] of this.#names) clean = clean.replace(name, standIn);
    // After the names, so that a given name gets its own stand-in.
    for (const [pattern, standIn] of GENERAL) clean = clean.replace(pattern, standIn);
    return clean;
  }

  /** A value with every string redacted, including names of members. */
  value<T>(value: T): T {
    return JSON.parse(
      JSON.stringify(value, (_, item: unknown) => {
        if (typeof item === 'string') return this.text(item);
        if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
        return Object.fromEntries(Object.entries(item).map(([key, inner]) => [this.text(key), inner]));
      }),
    );
  }

  #hash(id: string): string {
    return createHash('sha256').update(this.#salt).update(id).digest('hex').slice(0, 8);
  }
}

/** The name, also as a part of a longer one, such as that of a role; other tools write `_` where the name has `-`. */
const wholeName = (name: string): RegExp =>
  new RegExp(`(?<![A-Za-z0-9])${name.replace(/[^\w]/g, '\\$&').replace(/\\-|_/g, '[-_]')}(?![A-Za-z0-9])`, 'g');

type StandIn = string | ((kind: string, hash: string) => string);
const hashed: StandIn = (kind, hash) => `${kind}-<${hash}>`;

/** Secrets and ids of resources. */
const PATTERNS: readonly (readonly [RegExp, StandIn])[] = [
  // The identity in an ARN: a session often has the name of a person.
  [/\b(assumed-role|federated-user|user)\/[^\s"'`,;)<]+/g, (kind) => `${kind}/<caller>`],
  [/[^\s"'`/:,;()<>]+@[^\s"'`,;()<>]+/g, '<email>'],
  [/-----BEGIN [A-Z ]+-----[\s\S]*?-----END [A-Z ]+-----/g, '<pem>'],
  [/\b(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{12,}\b/g, '<access-key>'],
  [/\beyJ[\w-]{10,}\.[\w-]+(?:\.[\w-]*)?/g, '<token>'],
  [/k8s-aws-v1\.[\w-]+/g, '<token>'],
  [/(?<=Encoded authorization failure message: )[\w+/=-]+/g, '<encoded-message>'],
  [/(?<=(?:RequestID|Request ID|requestId): ?)[\w-]+/gi, '<request-id>'],
  [/[\w.-]+\.eks\.amazonaws\.com(?:\.cn)?(?=\/|:|$|\s|")/g, '<endpoint>'],
  [/\bip-\d+-\d+-\d+-\d+[\w.-]*/g, (_, hash) => `node-<${hash}>`],
  [/\b(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}\b(?![.\d])/g, '<ip>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, (_, hash) => `uuid-<${hash}>`],
  [/\b(i|subnet|sg|vpc|lt|eni|vol|eks|subnetgroup|rtb|nat|igw)-[0-9a-f]{8,17}\b/g, hashed],
  // A long mixed word is a secret key, a session token, or base64 of something.
  [/(?<![\w+/.-])(?=[\w+/]*[A-Z])(?=[\w+/]*[a-z])(?=[\w+/]*\d)[A-Za-z0-9+/]{40,}={0,2}(?![\w+/])/g, '<secret>'],
];

/** Identities that are not in the given names. */
const GENERAL: readonly (readonly [RegExp, string])[] = [
  [/(?<=\/(?:home|Users)\/)[^\s/"'`:]+/g, '<user>'],
  [/(?<=:role\/)(?!aws-service-role\/)[\w+=,.@/-]*\w/g, '<role>'],
  [/(?<!\d)\d{12}(?!\d)/g, '<account>'],
];
