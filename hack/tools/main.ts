/** Builds missing tools of the tests, and the GitOps tools. */
import { argoCdPrograms, fluxPrograms } from '../gitops/programs.ts';
import { ptyPath } from '../pty/program.ts';
import { ensureTools } from './tools.ts';

const log = (line: string) => console.error(line);
try {
  await ensureTools(log);
  await ptyPath(log);
  await argoCdPrograms(log);
  await fluxPrograms(log);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
