/** A terminal in memory. */
import type { Terminal } from '../terminal.ts';
import { plain } from '../text.ts';

/** A terminal of 80 columns without a user, which records what it is given to print. */
export function recordedTerminal(): Terminal & { readonly lines: string[] } {
  const lines: string[] = [];
  const print = (text: string) => void lines.push(text);
  const ask = async () => '';
  return {
    ...{ lines, isInteractive: false, isScreen: false, columns: 80, paint: plain },
    ...{ print, printError: print, redraw: print, ask },
  };
}
