import type { Logger } from '../ports.ts';

const nothing = (): void => undefined;

/** Discards every line. */
export const silentLog: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLog,
};
