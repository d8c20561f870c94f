/**
 * `make build`: bundles the operator into build/operator/, or into the folder that is given. `make kubectl-plugin`: with `--kubectl-plugin`, the
 * plugin into build/kubectl-plugin/.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { COMPLETION_NAME, COMPLETION_SCRIPT } from '../cmd/kubectl-windowspool/completion.ts';
import { bundle, bundleExecutable } from './bundle.ts';

const PLUGIN_FOLDER = 'build/kubectl-plugin';

const args = process.argv.slice(2);
const isPlugin = args[0] === '--kubectl-plugin';
const folder = args[isPlugin ? 1 : 0];
const written = isPlugin
  ? await bundleExecutable('cmd/kubectl-windowspool/main.ts', 'kubectl-windowspool', folder ?? PLUGIN_FOLDER)
  : await bundle('cmd/operator/main.ts', 'operator', folder ?? 'build/operator');
if (isPlugin) await writeFile(join(folder ?? PLUGIN_FOLDER, COMPLETION_NAME), COMPLETION_SCRIPT, { mode: 0o755 });
for (const { file, bytes } of written) console.log(`${file}  ${(bytes / 1024).toFixed(0)} KiB`);
