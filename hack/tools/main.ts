/** Builds missing tools of the tests. */
import { ensureTools } from './tools.ts';

try {
  await ensureTools((line) => console.error(line));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
