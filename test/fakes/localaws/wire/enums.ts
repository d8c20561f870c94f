/** The allowed values of string members, for the services of the local AWS. */
import { readEnum } from '../../sdkModel/enums.ts';
import { exportsOf, packageOf, type Service } from './shapes.ts';

/** The allowed values of a member of a structure; undefined if any string is allowed. */
export const enumOf = (service: Service, structure: string, member: string): readonly string[] | undefined =>
  readEnum(packageOf(service), exportsOf(service), structure, member);
