/** The syntax of kubectl's flags, which commander does not have: https://pkg.go.dev/github.com/spf13/pflag#readme-command-line-flag-syntax */
import type { Option } from 'commander';

/** `--dry-run` without a value. */
const DRY_RUN = '--dry-run';

/**
 * The arguments in the syntax of commander: `-n=shop` -> `--namespace=shop`, `--watch=true` -> `--watch`, `--dry-run` -> `--dry-run=client`. `--watch=false` is
 * left out. Arguments after `--` stay.
 */
export function asCommanderArguments(args: readonly string[], options: readonly Option[]): string[] {
  const end = args.indexOf('--');
  const flags = end < 0 ? args : args.slice(0, end);
  const translated = flags.flatMap((arg) => {
    if (arg === DRY_RUN) return [`${DRY_RUN}=client`];
    const [, name, value] = /^(-[a-zA-Z]|--[a-z][a-z-]*)=(.*)$/s.exec(arg) ?? [];
    const option = options.find(({ short, long }) => name === short || name === long);
    if (!option || name === undefined) return [arg];
    if (option.required) return [`${option.long}=${value}`];
    return value === 'true' ? [name] : value === 'false' ? [] : [arg];
  });
  return [...translated, ...args.slice(flags.length)];
}
