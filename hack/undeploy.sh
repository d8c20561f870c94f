#!/usr/bin/env bash
# Removes the operator from a cluster in the only order in which no finalizer blocks: the pools while the operator still runs, then the
# operator, its permissions and the namespace of its pods on nodes, then the CRD. Each step can be repeated. The first argument is the timeout for the
# deletion of the pools.
set -euo pipefail
cd "$(dirname "$0")/.."
kubectl=${KUBECTL:-kubectl}
timeout=${1:-60m}

# A separate command, so that the script fails here if the API server cannot be reached.
crd=$($kubectl get crd windowspools.winpool.dev --ignore-not-found --output name)
if [ -n "$crd" ]; then
  if ! $kubectl delete windowspools --all --timeout="$timeout"; then
    cat >&2 <<'HELP'

Some pools still exist, and only the operator can remove their finalizers, so it is not removed. Find the cause, then run `make undeploy` again:

  kubectl get windowspools --output wide
  kubectl describe windowspools

The deletion of a paused pool waits until you resume it: set spec.paused to false, and remove the annotation winpool.dev/paused.
If the operator no longer exists, see docs/how-to/uninstall.md.
HELP
    exit 1
  fi
fi
$kubectl delete --ignore-not-found --kustomize config/manager
$kubectl delete --ignore-not-found --kustomize config/rbac
$kubectl delete --ignore-not-found --kustomize config/admission
$kubectl delete --ignore-not-found --namespace kube-system lease/windowspool-operator
$kubectl delete --ignore-not-found --namespace kube-system role/windowspool-operator-windows-ipam rolebinding/windowspool-operator-windows-ipam
$kubectl delete --ignore-not-found --kustomize config/crd
