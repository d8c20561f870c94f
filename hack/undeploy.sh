#!/usr/bin/env bash
# Takes the operator out of a cluster in the only order that leaves nothing stuck: the pools while the operator can still let them
# go, then the operator and its rights, then the CRD. Each step can be repeated. The first argument is how long the pools may take.
set -euo pipefail
cd "$(dirname "$0")/.."
kubectl=${KUBECTL:-kubectl}
timeout=${1:-60m}

# On a line of its own: a cluster that does not answer ends the script here, and does not pass for one without pools.
crd=$($kubectl get crd windowspools.winpool.dev --ignore-not-found --output name)
if [ -n "$crd" ]; then
  if ! $kubectl delete windowspools --all --timeout="$timeout"; then
    cat >&2 <<'HELP'

Pools are left, so the operator stays: it is what lets them go. See why, and run `make undeploy` again:

  kubectl get windowspools --output wide
  kubectl describe windowspools

A paused pool waits until it is resumed: set spec.paused to false, and take the annotation winpool.dev/paused away.
If the operator is gone already: docs/uninstall.md says how to let the pools go without it.
HELP
    exit 1
  fi
fi
$kubectl delete --ignore-not-found --kustomize config/manager
$kubectl delete --ignore-not-found --kustomize config/rbac
$kubectl delete --ignore-not-found --namespace kube-system role/windowspool-operator-windows-ipam rolebinding/windowspool-operator-windows-ipam
$kubectl delete --ignore-not-found --kustomize config/crd
