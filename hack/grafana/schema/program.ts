/** The program `schema`, which checks dashboards against Grafana's schema. */
import { fileURLToPath } from 'node:url';
import { ensurePrograms, type Log } from '../../gobuild/find.ts';

/** The absolute path of the program, which is built if it is missing. */
export async function schemaPath(log: Log, signal?: AbortSignal): Promise<string> {
  const module = {
    dir: fileURLToPath(new URL('.', import.meta.url)),
    name: 'dashboard-schema',
    what: "the check of Grafana's schema",
    programs: [{ name: 'schema' as const, package: '.', buildSeconds: 20 }],
  };
  return (await ensurePrograms(module, log, signal)).schema;
}
