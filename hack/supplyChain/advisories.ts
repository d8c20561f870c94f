/** Security advisories of the packages in the bundle. */
import { runCommand } from '../controlplane/command.ts';
import type { BundledPackage } from '../licences.ts';

const TIMEOUT_MS = 60_000;
const SERIOUS = ['high', 'critical'];

/** The report of `npm audit --json`, as far as it is used. `via` names other packages, or has the advisories of the package itself. */
interface AuditReport {
  readonly message?: string;
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly nodes: readonly string[]; readonly via: readonly (string | Advisory)[] }>
  >;
}

interface Advisory {
  readonly title: string;
  readonly url: string;
  readonly severity: string;
}

/** `read` is false if the registry did not answer: `reason` says why. `findings` has one sentence for each serious advisory. */
export type Advisories =
  | { readonly read: false; readonly reason: string }
  | { readonly read: true; readonly findings: readonly string[] };

/**
 * Reads the advisories of severity high and critical for these packages from the registry of npm's configuration. `npmArgs` are more
 * arguments of npm.
 */
export async function readAdvisories(
  root: string,
  packages: readonly BundledPackage[],
  npmArgs: readonly string[] = [],
): Promise<Advisories> {
  const args = ['audit', '--json', '--fetch-retries=0', '--fetch-timeout=10000', ...npmArgs];
  const { stdout } = await runCommand('npm', args, { cwd: root, timeoutMs: TIMEOUT_MS });
  const { message, vulnerabilities } = parsed(stdout);
  if (!vulnerabilities) return { read: false, reason: message ?? 'npm audit printed no report' };
  return { read: true, findings: packages.flatMap((one) => findingsOf(one, vulnerabilities)) };
}

/** A package that only depends on a vulnerable one has no advisory of its own, and what it depends on may not be in the bundle. */
function findingsOf(
  { folder, name, version }: BundledPackage,
  vulnerabilities: NonNullable<AuditReport['vulnerabilities']>,
): readonly string[] {
  const { nodes = [], via = [] } = vulnerabilities[name] ?? {};
  if (!nodes.includes(folder)) return [];
  return via.flatMap((advisory) =>
    typeof advisory !== 'string' && SERIOUS.includes(advisory.severity)
      ? [
          `${name} ${version} is in the bundle and has an advisory of severity ${advisory.severity}: ${advisory.title} (${advisory.url}). Update it in package.json, and run npm install.`,
        ]
      : [],
  );
}

function parsed(text: string): AuditReport {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
