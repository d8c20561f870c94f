/** A minimal parser of shell scripts that finds their commands. Nothing is expanded or run. */

/** A word of a command, without its quotes. */
export interface Word {
  readonly text: string;
  /** Whether the shell expands a part of it, such as `$CLUSTER_NAME`, which `text` has unexpanded. */
  readonly expanded: boolean;
}

/** A simple command of a script. */
export interface Command {
  /** Line of its first word, from 1. */
  readonly line: number;
  readonly words: readonly Word[];
}

/** Words after which another command begins. */
const KEYWORDS = ['do', 'then', 'else', 'if', 'while', 'until', '{', '!', 'time'];

/** The simple commands of a script, those inside `$(...)` included, each after the commands inside it. `line` is that of the script's start. */
export function commandsIn(script: string, line = 1): Command[] {
  return new Reader(script, line).read();
}

class Reader {
  readonly #script: string;
  #at = 0;
  #line: number;
  #words: Word[] = [];
  #start = 0;
  #text: string | undefined;
  #expanded = false;
  #dropNext = false;
  readonly #found: Command[] = [];

  constructor(script: string, line: number) {
    this.#script = script;
    this.#line = line;
  }

  read(): Command[] {
    while (this.#at < this.#script.length) this.#step(this.#take());
    this.#endCommand();
    return this.#found;
  }

  #step(char: string): void {
    if (char === ' ' || char === '\t') this.#endWord();
    else if ('\n;|&()'.includes(char)) this.#endCommand();
    else if (char === '#' && this.#text === undefined) this.#skipComment();
    else if (char === '<' || char === '>') this.#redirect();
    else if (char === '\\') this.#escaped();
    else if (char === "'") this.#append(this.#until("'"));
    else if (char === '"') this.#doubleQuoted();
    else if (char === '$') this.#expansion();
    else this.#append(char);
  }

  #escaped(): void {
    const next = this.#take();
    if (next !== '\n') this.#append(next);
  }

  #take(): string {
    const char = this.#script[this.#at] ?? '';
    this.#at += 1;
    if (char === '\n') this.#line += 1;
    return char;
  }

  #until(end: string): string {
    let text = '';
    while (this.#at < this.#script.length) {
      const char = this.#take();
      if (char === end) break;
      text += char;
    }
    return text;
  }

  #append(text: string): void {
    if (this.#text === undefined && this.#words.length === 0) this.#start = this.#line;
    this.#text = (this.#text ?? '') + text;
  }

  #doubleQuoted(): void {
    this.#append('');
    while (this.#at < this.#script.length) {
      const char = this.#take();
      if (char === '"') return;
      if (char === '$') this.#expansion();
      else if (char === '\\') {
        const next = this.#take();
        if (next !== '\n') this.#append('"\\$`'.includes(next) ? next : `\\${next}`);
      } else this.#append(char);
    }
  }

  #expansion(): void {
    const next = this.#script[this.#at] ?? '';
    if (next === '(') this.#substitution();
    else if (next === '{') {
      this.#take();
      this.#append(`\${${this.#until('}')}}`);
      this.#expanded = true;
    } else {
      this.#append('$');
      if (/[\w?#@*]/.test(next)) this.#expanded = true;
    }
  }

  #substitution(): void {
    const start = this.#at + 1;
    const line = this.#line;
    let depth = 0;
    do {
      const char = this.#take();
      if (char === '(') depth += 1;
      else if (char === ')') depth -= 1;
      else if (char === "'" || char === '"') this.#until(char);
    } while (depth > 0 && this.#at < this.#script.length);
    this.#found.push(...commandsIn(this.#script.slice(start, this.#at - 1), line));
    this.#append('$(...)');
    this.#expanded = true;
  }

  #redirect(): void {
    // `2>` has a file descriptor, not an argument.
    if (this.#text !== undefined && /^\d+$/.test(this.#text)) this.#text = undefined;
    this.#endWord();
    while (/[<>&]/.test(this.#script[this.#at] ?? '')) this.#take();
    this.#dropNext = true;
  }

  #skipComment(): void {
    while (this.#at < this.#script.length && this.#script[this.#at] !== '\n') this.#take();
  }

  #endWord(): void {
    if (this.#text === undefined) return;
    const word = { text: this.#text, expanded: this.#expanded };
    this.#text = undefined;
    this.#expanded = false;
    if (this.#dropNext) this.#dropNext = false;
    else if (this.#words.length > 0 || !isPrefix(word)) this.#words.push(word);
  }

  #endCommand(): void {
    this.#endWord();
    if (this.#words.length > 0) this.#found.push({ line: this.#start, words: this.#words });
    this.#words = [];
    this.#dropNext = false;
  }
}

/** Whether a command follows the word: a keyword, or a variable set for that command only. */
const isPrefix = ({ text }: Word): boolean => KEYWORDS.includes(text) || /^\w+=/.test(text);
