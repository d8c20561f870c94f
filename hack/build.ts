/** `make build`: bundles the operator into build/operator/, or into the folder that is given. */
import { bundle } from './bundle.ts';

for (const { file, bytes } of await bundle('cmd/operator/main.ts', 'operator', process.argv[2] ?? 'build/operator'))
  console.log(`${file}  ${(bytes / 1024).toFixed(0)} KiB`);
