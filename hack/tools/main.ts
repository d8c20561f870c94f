/**
 * Builds the missing tools of `make test`, and with `--all` those of `make test-all`: Helm 3, kstatus, the image registry, cosign, Alertmanager, actionlint,
 * hclfmt, the GitOps tools, Cluster API, the Machine API of OpenShift, and where the machine allows real nodes, their programs and Karpenter.
 */
import { baselinePrograms } from '../bench/baseline.ts';
import { clusterApiPath } from '../clusterApi/clusterApi.ts';
import { argoCdPrograms, fluxPrograms } from '../gitops/programs.ts';
import { schemaPath } from '../grafana/schema/program.ts';
import { ensureKarpenter } from '../karpenter/karpenter.ts';
import { openShiftPrograms } from '../openshift/openshift.ts';
import { ptyPath } from '../pty/program.ts';
import { isolationObstacle } from '../realnode/isolation.ts';
import { ensureNodePrograms } from '../realnode/programs.ts';
import { toolPath } from './tools.ts';

const log = (line: string) => console.error(line);
try {
  for (const name of ['helm', 'prometheus', 'promtool'] as const) await toolPath(name, log);
  await ptyPath(log);
  await schemaPath(log);
  await baselinePrograms(log);
  if (process.argv.includes('--all')) {
    for (const name of ['kstatus', 'helm3', 'registry', 'cosign', 'alertmanager', 'actionlint', 'hclfmt'] as const)
      await toolPath(name, log);
    await argoCdPrograms(log);
    await fluxPrograms(log);
    await clusterApiPath(log);
    await openShiftPrograms(log);
    if ((await isolationObstacle()) === undefined) {
      await ensureNodePrograms(log);
      await ensureKarpenter(log);
    }
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
