import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { checkReasons } from '../api/reasons.ts';
import { karpenterChecks } from '../providers/karpenter/karpenterChecks.ts';
import { checks } from '../providers/nodeGroup/checks/checks.ts';

describe('the checks of all providers', () => {
  const all = [...checks, ...karpenterChecks];

  it('have one reason and one section in the docs each, and the section names the reason', () => {
    const pages = new Map(
      ['checks', 'advice'].map((name) => [
        name,
        readFileSync(`${import.meta.dirname}/../../../docs/reference/${name}.md`, 'utf8'),
      ]),
    );
    for (const { reason, section, severity } of all) {
      const name = severity === 'Advice' ? 'advice' : 'checks';
      const page = pages.get(name) ?? '';
      const at = page.search(new RegExp(`^## ${section.replaceAll('-', '[ -]')}$`, 'im'));
      assert.notEqual(at, -1, `docs/reference/${name}.md has no heading ${section}`);
      const end = page.indexOf('\n## ', at + 1);
      assert.ok(page.slice(at, end < 0 ? undefined : end).includes(`\`${reason}\``), `${section} names no ${reason}`);
    }
    assert.equal(new Set(all.map(({ section }) => section)).size, checkReasons.length);
  });

  it('have the order of their reasons, and each reason has a check', () => {
    const reasons = new Set(all.map(({ reason }) => reason));
    assert.deepEqual([...reasons].sort(), [...checkReasons].sort());
    const ofNodeGroups = new Set(checks.map(({ reason }) => reason));
    assert.deepEqual(
      checkReasons.filter((reason) => ofNodeGroups.has(reason)),
      checks.map(({ reason }) => reason),
    );
  });
});
