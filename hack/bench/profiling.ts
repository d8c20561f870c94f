/** CPU profiles of the operator, for `make profile`. */

/** Where the operator writes its profiles; undefined: it writes none. */
export const PROFILE_FOLDER = 'BENCH_PROFILE_FOLDER';

/** Flags of Node.js with which a process of the operator writes a profile when it ends. */
export function profileFlags(): readonly string[] {
  const folder = process.env[PROFILE_FOLDER];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}
