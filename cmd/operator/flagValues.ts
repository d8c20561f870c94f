/** Parsers for the values of flags. Each throws an Error whose message completes "--flag=VALUE: ...". */

/** The address of a server. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Any text. */
export function text(value: string): string {
  return value;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `1h30m` -> 5400000. In the format of Go and Kubernetes. */
export function duration(value: string): number {
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  const total = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNITS[unit ?? ''] ?? 0), 0);
  if (parts.map(([part]) => part).join('') !== value || total <= 0)
    throw new Error('must be a duration such as 500ms, 20s, 10m or 1h30m');
  return total;
}

/** An integer within bounds. */
export function whole(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most)
      throw new Error(`must be an integer from ${least} to ${most}`);
    return number;
  };
}

/** `true` or `false`. */
export function yesNo(value: string): boolean {
  if (value !== 'true' && value !== 'false') throw new Error('must be true or false');
  return value === 'true';
}

/** An absolute HTTP URL, without trailing slashes. */
export function httpUrl(value: string): string {
  const url = URL.parse(value);
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error('must be an HTTP URL such as https://host/path');
  return value.replace(/\/+$/, '');
}

const OVERLAY = 'the placeholder of config/samples/overlay/kustomization.yaml and of the commands in the documentation';

/** The name of an EKS cluster. */
export function clusterName(value: string): string {
  if (value === 'CLUSTER_NAME') throw new Error(`is ${OVERLAY}. Set the name of your EKS cluster`);
  // https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html
  if (!/^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/.test(value))
    throw new Error(
      'must be the name of an EKS cluster, not an ARN: at most 100 letters, digits, hyphens and underscores',
    );
  return value;
}

/** An AWS Region. */
export function region(value: string): string {
  if (value === 'REGION') throw new Error(`is ${OVERLAY}. Set the AWS Region of your EKS cluster, such as eu-west-1`);
  if (!/^[a-z]{2,}(-[a-z]+)+-\d+$/.test(value)) throw new Error('must be an AWS Region such as eu-west-1');
  return value;
}

/** The most tags that the spec of a pool may have, too. */
const MOST_TAGS = 40;

/** `team=shop,cost-center=42` -> AWS tags. Their values can contain no comma: https://docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html */
export function tags(value: string): Readonly<Record<string, string>> {
  const all = value
    .split(',')
    .map((tag) => /^([\p{L}\p{Z}\p{N}_.:/+\-@]{1,128})=([\p{L}\p{Z}\p{N}_.:/=+\-@]{0,256})$/u.exec(tag));
  const pairs = all.map((match) => [match?.[1] ?? '', match?.[2] ?? ''] as const);
  if (all.includes(null) || pairs.length > MOST_TAGS || new Set(pairs.map(([key]) => key)).size < pairs.length)
    throw new Error(`must be at most ${MOST_TAGS} AWS tags with different keys, as KEY=VALUE,KEY=VALUE`);
  const reserved = pairs.find(([key]) => /^(aws:|winpool\.dev\/)|^__proto__$/.test(key))?.[0];
  if (reserved) throw new Error(`the key ${reserved} is reserved for AWS or the operator. Choose another key`);
  return Object.fromEntries(pairs);
}

/** `a,b` -> the names of two objects of Kubernetes. An empty text has none. */
export function names(value: string): readonly string[] {
  const all = value.split(',').filter((name) => name !== '');
  if (!all.every((name) => /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/.test(name)))
    throw new Error('must be names of objects, separated by commas, such as registry,mirror');
  return all;
}

/** One of the given words. */
export function oneOf(...values: readonly string[]): (value: string) => string {
  return (value) => {
    if (!values.includes(value)) throw new Error(`must be one of ${values.join(', ')}`);
    return value;
  };
}

/** Whether the address is reachable only from this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** `127.0.0.1:8080`, `:8080`, `[::1]:8080`; `0` disables the server, as in controller-runtime. */
export function address(value: string): Address | undefined {
  if (value === '0') return undefined;
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(value);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new Error('must be an address such as 127.0.0.1:8080 or :8080, or 0');
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
}
