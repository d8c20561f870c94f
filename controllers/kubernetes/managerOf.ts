import type { V1ObjectMeta } from '@kubernetes/client-node';
import { MANAGED_BY_LABEL } from '../windowspool/api/labels.ts';
import type { Wire } from './objects.ts';

/**
 * The tool that manages an object, by the labels and annotations of Helm (https://helm.sh/docs/chart_best_practices/labels/), Argo CD
 * (https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/) and Flux
 * (https://fluxcd.io/flux/components/kustomize/kustomizations/#inventory), or else by the label app.kubernetes.io/managed-by.
 */
export function managerOf({ labels = {}, annotations = {} }: Wire<V1ObjectMeta>): string | undefined {
  const release = annotations['meta.helm.sh/release-name'];
  if (release !== undefined) return `Helm release ${annotations['meta.helm.sh/release-namespace'] ?? ''}/${release}`;
  const argo = annotations['argocd.argoproj.io/tracking-id']?.split(':')[0] ?? labels['argocd.argoproj.io/instance'];
  if (argo !== undefined) return `Argo CD application ${argo}`;
  for (const [prefix, kind] of FLUX) {
    const name = labels[`${prefix}/name`];
    if (name !== undefined) return `Flux ${kind} ${labels[`${prefix}/namespace`] ?? ''}/${name}`;
  }
  return labels[MANAGED_BY_LABEL];
}

const FLUX = [
  ['kustomize.toolkit.fluxcd.io', 'Kustomization'],
  ['helm.toolkit.fluxcd.io', 'HelmRelease'],
] as const;
