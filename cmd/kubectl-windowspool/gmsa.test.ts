import assert from 'node:assert/strict';
import { assertNames } from '../../test/messages.ts';
import { type CredentialSpec, judgeGmsa } from './gmsa.ts';

const JOINED: CredentialSpec = { credspec: { ActiveDirectoryConfig: {} } };
const DOMAINLESS: CredentialSpec = { credspec: { ActiveDirectoryConfig: { HostAccountConfig: { PluginGUID: '{}' } } } };
const BOTH = { mutating: true, validating: true };

describe('the check of gMSA', () => {
  it('is skipped if the cluster has no CRD of credential specs', () => {
    const { result, detail } = judgeGmsa(undefined, BOTH);
    assert.equal(result, 'SKIP');
    assertNames(detail, 'gmsacredentialspecs.windows.k8s.io');
  });

  const failures: readonly (readonly [what: string, webhooks: Parameters<typeof judgeGmsa>[1], message: RegExp])[] = [
    ['no webhook', { mutating: false, validating: false }, /^no mutating and no validating webhook .* run without/],
    ['no mutating webhook', { mutating: false, validating: true }, /^no mutating webhook .* run without the identity/],
    ['no validating webhook', { mutating: true, validating: false }, /^no validating webhook .* any credential spec\./],
  ];
  for (const [what, webhooks, message] of failures)
    it(`fails if there is ${what}, and says what follows`, () => {
      const { result, detail } = judgeGmsa([JOINED], webhooks);
      assert.equal(result, 'FAIL');
      assert.match(detail, message);
      assert.match(detail, / Install windows-gmsa: see docs\/how-to\/gmsa\.md\.$/);
    });

  const passes: readonly (readonly [specs: readonly CredentialSpec[], names: RegExp])[] = [
    [[], /^0 credential specs and both webhooks exist$/],
    [[DOMAINLESS], /^1 credential spec and both webhooks exist$/],
    [[DOMAINLESS, JOINED], /^2 credential specs .* one needs .*docs\/how-to\/gmsa\.md\.$/],
    [[JOINED, {}], /^2 credential specs .* 2 need .*docs\/how-to\/gmsa\.md\.$/],
  ];
  for (const [specs, names] of passes)
    it(`passes and shows: ${names}`, () => {
      const { result, detail } = judgeGmsa(specs, BOTH);
      assert.equal(result, 'PASS');
      assert.match(detail, names);
    });
});
