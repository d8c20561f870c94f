/** The condition keys of tags. */
import type { LocalAwsState } from '../state.ts';
import type { Context } from './conditions.ts';

type Tags = Readonly<Record<string, string>>;

/** The tags of EC2 and Auto Scaling. */
type TagList = readonly { readonly Key?: string | undefined; readonly Value?: string | undefined }[];

/** The tags of a list of EC2 or Auto Scaling. */
export const tagsOfList = (tags: TagList): Tags =>
  Object.fromEntries(tags.map(({ Key = '', Value = '' }) => [Key, Value]));

/** The tags that a request sets. */
export function requestTags(tags: Tags): Context {
  const keys = Object.keys(tags);
  return { ...prefixed('aws:RequestTag/', tags), ...(keys.length > 0 && { 'aws:TagKeys': keys }) };
}

/** The tags of the resource, by the keys `aws:ResourceTag/` and that of the service. */
export const resourceTags = (tags: Tags, ...services: readonly string[]): Context =>
  Object.assign({}, ...['aws', ...services].map((service) => prefixed(`${service}:ResourceTag/`, tags)));

/**
 * The tags of a resource that does not exist: none. Whether AWS then answers "not found" or "denied" is a switch. For the first, it is evaluated
 * as if it had the tags that the shipped policies require.
 */
export const tagsOfMissing = ({ switches, cluster }: LocalAwsState): Tags =>
  switches.missingUnderTagCondition === 'denied'
    ? {}
    : { 'winpool.dev/pool': 'none', 'winpool.dev/usable-by': cluster.name };

const prefixed = (prefix: string, tags: Tags): Context =>
  Object.fromEntries(Object.entries(tags).map(([key, value]) => [prefix + key, value]));
