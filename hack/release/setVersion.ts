/** `make set-version VERSION=x.y.z`: sets the version of the next release everywhere. */
import manifest from '../../package.json' with { type: 'json' };
import { setVersion } from './versions.ts';

try {
  for (const file of await setVersion(manifest.version, process.argv[2] ?? '')) console.log(file);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
