/** What the grammar of PowerShell finds in the scripts of ConfigMaps. */
import { createHash } from 'node:crypto';
import type { ScriptSyntax } from '../windowspool/ports/prerequisites.ts';
import { MAX_USER_DATA_BYTES, scriptIn } from '../windowspool/ports/userScript.ts';
import { ExpiringCache } from './expiringCache.ts';

/** More than an operator has scripts. */
const TEXTS = 256;
/** When a script is parsed again of which nothing is known. */
const RETRY_MS = 600_000;

/** Finds what is wrong in a script, with lines of the script; undefined: it is not known. */
type Parse = (script: string) => ScriptSyntax | undefined;

/** Reads the text of a key, with its tags. Undefined: nothing is known of it. Never rejects. */
export type ReadSyntax = (text: string) => Promise<ScriptSyntax | undefined>;

/** Parses each text once, and none that EC2 does not accept. The grammar is loaded with the first one. */
export function createReadSyntax(load: () => Promise<Parse> = loadGrammar): ReadSyntax {
  const texts = new ExpiringCache<ScriptSyntax | undefined>(TEXTS, (known) => (known ? Infinity : RETRY_MS));
  return async (text) => {
    if (Buffer.byteLength(text) > MAX_USER_DATA_BYTES) return undefined;
    return texts.get(createHash('sha256').update(text).digest('base64'), async () => {
      try {
        const { script, firstLine } = scriptIn(text);
        return inText((await load())(script), firstLine);
      } catch {
        return undefined;
      }
    });
  };
}

let parse: Promise<Parse> | undefined;

/** One parser for the process: its memory stays allocated. */
function loadGrammar(): Promise<Parse> {
  parse ??= import('./powershellGrammar.ts').then(async ({ createParser, syntaxOf }) => {
    const parser = await createParser();
    return (script) => syntaxOf(parser, script);
  });
  return parse;
}

function inText(syntax: ScriptSyntax | undefined, firstLine: number): ScriptSyntax | undefined {
  return (
    syntax && {
      ...(syntax.error !== undefined && { error: syntax.error + firstLine - 1 }),
      ...(syntax.exit !== undefined && { exit: syntax.exit + firstLine - 1 }),
    }
  );
}
