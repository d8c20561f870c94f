/** `build` builds missing binaries; `kubectl-path` prints the path of kubectl. */
import { ensureBinaries } from './binaries.ts';

const commands: Readonly<Record<string, () => Promise<void>>> = {
  build: async () => {
    await ensureBinaries((line) => console.error(line));
  },
  'kubectl-path': async () => {
    const binaries = await ensureBinaries((line) => console.error(line));
    console.log(binaries.kubectl);
  },
};

const name = process.argv[2] ?? '';
const command = commands[name];
try {
  if (!command)
    throw new Error(`There is no command ${JSON.stringify(name)}. Say one of: ${Object.keys(commands).join(', ')}.`);
  await command();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
