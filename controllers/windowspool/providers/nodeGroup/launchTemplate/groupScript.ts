/** The user's script of a node group. Pure. */
import type { UserData, WindowsPoolSpec } from '../../../api/api.gen.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { readScript, type UserScript } from '../../../userData/userScript.ts';
import type { CheckFacts } from '../model/checkFacts.ts';

/** The script that the spec names, if it names one. */
export function userDataIn(spec: WindowsPoolSpec): (UserData & UserScript) | undefined {
  const { userData } = nodeGroupIn(spec);
  return userData && { ...userData, field: 'nodeGroup.userData' };
}

/** The script that the spec names; undefined while it was not read, or if the spec names none. */
export function userScriptOf(
  spec: WindowsPoolSpec,
  { userData: source }: Pick<CheckFacts, 'userData'> = {},
): string | undefined {
  const userData = userDataIn(spec);
  if (!userData || !source?.ok) return undefined;
  const found = readScript(userData, source.value);
  return 'script' in found ? found.script : undefined;
}
