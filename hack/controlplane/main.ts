/** `make controlplane`: builds the missing programs of a control plane. */
import { ensureBinaries } from './binaries.ts';

try {
  await ensureBinaries((line) => console.error(line));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
