import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { failingChecks } from '../nodes/verify.ts';
import { reasons } from './reasons.ts';

const here = `${import.meta.dirname}/..`;
const sources = readdirSync(here, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.ts$/.test(file) && !/\.(test|gen)\.ts$|^testing|^api\/reasons\.ts$/.test(file))
  .map((file) => readFileSync(`${here}/${file}`, 'utf8'));

interface Schema {
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

describe('the catalogue of reasons', () => {
  for (const [reason, meaning] of Object.entries(reasons)) {
    it(`has a meaning of full sentences for ${reason}, which the domain uses`, () => {
      assert.match(reason, /^[A-Z][A-Za-z]{2,62}$/);
      assert.match(meaning, /^[A-Z][^\n]{10,300}\.$/);
      const used = sources.some((source) => source.includes(`'${reason}'`));
      assert.ok(used, `no source of the domain uses the reason ${reason}`);
    });
  }

  it('has a different meaning for each reason', () => {
    const meanings: readonly string[] = Object.values(reasons);
    assert.equal(new Set(meanings).size, meanings.length);
  });

  it('has in spec.verification.warnOnly all checks that can fail a node, and no others', () => {
    const crd = parse(readFileSync(`${here}/../../crds/windowspools.yaml`, 'utf8'));
    const spec: Schema = crd.spec.versions[0].schema.openAPIV3Schema.properties.spec;
    const accepted = spec.properties?.verification?.properties?.warnOnly?.items?.enum ?? [];
    assert.deepEqual([...accepted].sort(), [...failingChecks].sort());
  });
});
