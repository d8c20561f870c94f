/** The GitOps tools, built from Go modules of their own, because their dependencies conflict with those of other tools. */
import { fileURLToPath } from 'node:url';
import { ensurePrograms, type Log } from '../gobuild/find.ts';
import type { GoModule } from '../gobuild/program.ts';

/** The Go module of Argo CD. */
export const ARGO_CD = 'github.com/argoproj/argo-cd/v3';

/** `argocd` is every component of Argo CD: the variable ARGOCD_BINARY_NAME selects one. The repo server runs `kustomize`. */
type ArgoCdProgram = 'argocd' | 'kustomize' | 'redis';

export const argoCdModule: GoModule<ArgoCdProgram> = {
  dir: fileURLToPath(new URL('argocd', import.meta.url)),
  name: 'argocd',
  what: 'Argo CD',
  programs: [
    {
      name: 'argocd',
      package: `${ARGO_CD}/cmd`,
      buildSeconds: 170,
      stamps: (versionOf) => [`${ARGO_CD}/common.version=${versionOf(ARGO_CD).slice(1)}`],
    },
    { name: 'kustomize', package: 'sigs.k8s.io/kustomize/kustomize/v5', buildSeconds: 10 },
    { name: 'redis', package: './redis', buildSeconds: 5 },
  ],
};

/** The absolute paths of the programs of Argo CD, which are built if they are missing. */
export function argoCdPrograms(log: Log, signal?: AbortSignal): Promise<Readonly<Record<ArgoCdProgram, string>>> {
  return ensurePrograms(argoCdModule, log, signal);
}

/** The Go modules of Flux's controllers, by the name of the program. */
export const FLUX = {
  'kustomize-controller': 'github.com/fluxcd/kustomize-controller',
  'helm-controller': 'github.com/fluxcd/helm-controller',
} as const;

/** A program of Flux. source-controller is not one of them: see artifactServer.ts. */
export type FluxProgram = keyof typeof FLUX;

export const fluxModule: GoModule<FluxProgram> = {
  dir: fileURLToPath(new URL('flux', import.meta.url)),
  name: 'flux',
  what: 'Flux',
  programs: [
    { name: 'kustomize-controller', package: FLUX['kustomize-controller'], buildSeconds: 150 },
    { name: 'helm-controller', package: FLUX['helm-controller'], buildSeconds: 20 },
  ],
};

/** The absolute paths of the programs of Flux, which are built if they are missing. */
export function fluxPrograms(log: Log, signal?: AbortSignal): Promise<Readonly<Record<FluxProgram, string>>> {
  return ensurePrograms(fluxModule, log, signal);
}
