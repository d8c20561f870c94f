import type { Logger } from '../ports.ts';

/** A log, and its lines as the operator prints them. */
export function recordedLog(): { readonly log: Logger; readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const logger = (base: object): Logger => {
    const at = (level: string) => (fields: object, msg: string) => void lines.push({ level, ...base, ...fields, msg });
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => logger({ ...base, ...fields }),
    };
  };
  return { log: logger({}), lines };
}
