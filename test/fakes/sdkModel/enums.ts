/**
 * Which values a string member may have. The schemas of the SDK do not have the enum of a member, but its type declarations do (`amiType?: AMITypes | undefined;`), and the package exports the enum itself.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { SdkExports } from './schema.ts';

const require = createRequire(import.meta.url);
const declarations = new Map<string, readonly string[]>();
const enumsByStructure = new Map<string, ReadonlyMap<string, readonly string[]>>();

/**
 * The allowed values of a member of a structure in a package of the SDK, such as `client-eks`; undefined when any string is accepted.
 * `exports` are those of the package.
 */
export function readEnum(
  packageName: string,
  exports: SdkExports,
  structure: string,
  member: string,
): readonly string[] | undefined {
  const key = `${packageName}.${structure}`;
  let enums = enumsByStructure.get(key);
  if (enums === undefined) {
    enums = readEnums(packageName, exports, structure);
    enumsByStructure.set(key, enums);
  }
  return enums.get(member);
}

function readEnums(packageName: string, exports: SdkExports, structure: string): Map<string, readonly string[]> {
  const enums = new Map<string, readonly string[]>();
  for (const [, member, type] of interfaceBody(packageName, structure).matchAll(/^\s*(\w+)\??: ([^;]+);/gm)) {
    const name = type?.replace(' | undefined', '').replace('[]', '').trim() ?? '';
    const values = exports[name];
    if (member === undefined || typeof values !== 'object' || values === null) continue;
    enums.set(
      member,
      Object.values(values).filter((value): value is string => typeof value === 'string'),
    );
  }
  return enums;
}

function interfaceBody(packageName: string, structure: string): string {
  for (const text of declarationsOf(packageName)) {
    const start = text.search(new RegExp(`^export interface ${structure} (extends [^{]+)?\\{`, 'm'));
    if (start < 0) continue;
    return text.slice(start, text.indexOf('\n}', start)).replace(/\/\*\*[\s\S]*?\*\//g, '');
  }
  return '';
}

function declarationsOf(packageName: string): readonly string[] {
  const known = declarations.get(packageName);
  if (known !== undefined) return known;
  const entry = require.resolve(`@aws-sdk/${packageName}`);
  const folder = path.join(path.dirname(entry), '..', 'dist-types', 'models');
  const texts = readdirSync(folder)
    .filter((file) => /^models_\d+\.d\.ts$/.test(file))
    .map((file) => readFileSync(path.join(folder, file), 'utf8'));
  declarations.set(packageName, texts);
  return texts;
}
