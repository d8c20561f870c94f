/**
 * The grammar with which the operator parses scripts. It finds what is no PowerShell in what the operator writes. It does not know that PowerShell treats
 * typographic quotation marks as normal ones: `powershellTokens.ts` does. Its other blind spots are in `controllers/kubernetes/powershellGrammar.ts`.
 */
import type { Node } from 'web-tree-sitter';
import { createParser } from '../../kubernetes/powershellGrammar.ts';

/** A function that parses the commands within the tags of user data, or throws an error that names the first place that is no PowerShell. */
export async function powershellParser(): Promise<(userData: string) => Node> {
  const parser = await createParser();
  return (userData) => {
    const [, commands] = /^<powershell>\n(.*)<\/powershell>\n$/s.exec(userData) ?? [];
    const root = commands === undefined ? undefined : parser.parse(commands)?.rootNode;
    if (!root) throw new Error(`is not within the tags of user data: ${userData}`);
    if (!root.hasError) return root;
    const wrong = nodesIn(root).find(({ isError, isMissing }) => isError || isMissing);
    throw new Error(`no PowerShell in line ${(wrong?.startPosition.row ?? 0) + 1}: ${userData}`);
  };
}

/** The node and all nodes below it. */
export function nodesIn(node: Node): Node[] {
  return [node, ...node.children.flatMap((child) => (child ? nodesIn(child) : []))];
}
