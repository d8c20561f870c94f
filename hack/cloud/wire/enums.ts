/**
 * Which values a string member may have. The schemas of the SDK don't say which enum a member uses, its type
 * declarations do (`amiType?: AMITypes | undefined;`), and the package exports the enum itself.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { exported, packageOf, type Service } from './shapes.ts';

const require = createRequire(import.meta.url);
const declarations = new Map<Service, readonly string[]>();
const enumsByStructure = new Map<string, ReadonlyMap<string, readonly string[]>>();

/** The allowed values of a member of a structure; undefined when any string will do. */
export function enumOf(service: Service, structure: string, member: string): readonly string[] | undefined {
  const key = `${service}.${structure}`;
  let enums = enumsByStructure.get(key);
  if (enums === undefined) {
    enums = readEnums(service, structure);
    enumsByStructure.set(key, enums);
  }
  return enums.get(member);
}

function readEnums(service: Service, structure: string): Map<string, readonly string[]> {
  const enums = new Map<string, readonly string[]>();
  for (const [, member, type] of interfaceBody(service, structure).matchAll(/^\s*(\w+)\??: ([^;]+);/gm)) {
    const name = type?.replace(' | undefined', '').replace('[]', '').trim() ?? '';
    const values = exported(service, name);
    if (member === undefined || typeof values !== 'object' || values === null) continue;
    enums.set(
      member,
      Object.values(values).filter((value): value is string => typeof value === 'string'),
    );
  }
  return enums;
}

function interfaceBody(service: Service, structure: string): string {
  for (const text of declarationsOf(service)) {
    const start = text.search(new RegExp(`^export interface ${structure} (extends [^{]+)?\\{`, 'm'));
    if (start < 0) continue;
    return text.slice(start, text.indexOf('\n}', start)).replace(/\/\*\*[\s\S]*?\*\//g, '');
  }
  return '';
}

function declarationsOf(service: Service): readonly string[] {
  const known = declarations.get(service);
  if (known !== undefined) return known;
  const entry = require.resolve(`@aws-sdk/${packageOf(service)}`);
  const folder = path.join(path.dirname(entry), '..', 'dist-types', 'models');
  const texts = readdirSync(folder)
    .filter((file) => /^models_\d+\.d\.ts$/.test(file))
    .map((file) => readFileSync(path.join(folder, file), 'utf8'));
  declarations.set(service, texts);
  return texts;
}
