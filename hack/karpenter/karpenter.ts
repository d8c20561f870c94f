/** Karpenter's core with its simulated provider: a controller in Go beside which the operator is measured, and which can create nodes without AWS. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readGoMod } from '../gobuild/build.ts';
import { ensurePrograms, type Log } from '../gobuild/find.ts';
import { moduleFolder } from '../gobuild/moduleFolder.ts';
import type { GoModule } from '../gobuild/program.ts';

const CORE = 'sigs.k8s.io/karpenter';
/** The provider for AWS, of which only a CRD is used. */
const AWS = 'github.com/aws/karpenter-provider-aws@v1.14.1';
const AWS_SUM = 'h1:WGtIQTQcxpElYMdWfWuPwaF2+9muR+hYhPZsTtoY8Gs=';
const NODE_CLASS_CRD = 'pkg/apis/crds/karpenter.k8s.aws_ec2nodeclasses.yaml';

const karpenterModule: GoModule<'karpenter'> = {
  dir: fileURLToPath(new URL('.', import.meta.url)),
  name: 'karpenter',
  what: "Karpenter's core with its simulated provider",
  programs: [{ name: 'karpenter', package: `${CORE}/kwok`, buildSeconds: 180 }],
};

export interface Karpenter {
  /** The absolute path of the program, which is static. */
  readonly program: string;
  /** Such as `1.14.1`. */
  readonly version: string;
  /** The folders of its CRDs. */
  readonly crds: readonly string[];
}

/** The file with the CRD of EC2NodeClasses. */
export async function nodeClassCrd(signal?: AbortSignal): Promise<string> {
  return join(await moduleFolder(karpenterModule, AWS, { sum: AWS_SUM, signal }), NODE_CLASS_CRD);
}

/** Karpenter, whose program is built if it is missing. */
export async function ensureKarpenter(log: Log, signal?: AbortSignal): Promise<Karpenter> {
  const { karpenter } = await ensurePrograms(karpenterModule, log, signal);
  return {
    program: karpenter,
    version: (await readGoMod(karpenterModule)).versionOf(CORE).slice(1),
    crds: await karpenterCrds(signal),
  };
}

/** The folders of its CRDs. Builds nothing. */
export async function karpenterCrds(signal?: AbortSignal): Promise<readonly string[]> {
  const sources = await moduleFolder(karpenterModule, CORE, { signal });
  return ['pkg/apis/crds', 'kwok/apis/crds'].map((folder) => join(sources, folder));
}
