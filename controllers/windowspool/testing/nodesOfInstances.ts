/** Nodes of the fake cluster for the instances of the local AWS. */
import type { Nodegroup } from '@aws-sdk/client-eks';
import {
  nodeFor,
  nodeTaint,
  podAddresses,
  podAddressResource,
  readyCondition,
} from '../../../test/fakes/localaws/nodes/nodeObject.ts';
import type { InstanceRecord } from '../../../test/fakes/localaws/records.ts';
import type { LocalAwsState } from '../../../test/fakes/localaws/state.ts';
import { nodeRecordOf } from '../../kubernetes/nodes.ts';
import { OWN_PREFIX } from '../api/labels.ts';
import type { NodeRecord, Taint } from '../ports/nodes.ts';

/** The node of a registering kubelet. It is Ready at once, and initialized by the cloud controller. */
export function registeredNode(state: LocalAwsState, instance: InstanceRecord): NodeRecord {
  const object = nodeFor(state, instance);
  const now = state.timeline.now();
  const metadata = {
    ...object.metadata,
    uid: `uid-${instance.id}`,
    resourceVersion: '1',
    creationTimestamp: now.toISOString(),
  };
  const conditions = [readyCondition(instance.defect.notReady !== true, now)];
  const record = nodeRecordOf({ ...object, metadata, status: { ...object.status, conditions } });
  return { ...record, taints: record.taints.filter(({ key }) => !key.startsWith('node.cloudprovider')) };
}

/** A kubelet that registers again keeps the fields of other writers. */
export function restartedNode(known: NodeRecord, registered: NodeRecord): NodeRecord {
  const { taints, verified, verifiedSince, annotations, unschedulable } = known;
  const labels = { ...known.labels, ...registered.labels };
  const own = known.conditions.filter((state) => state.startsWith(OWN_PREFIX));
  const conditions = [...registered.conditions, ...own];
  return { ...registered, labels, taints, verified, verifiedSince, conditions, annotations, unschedulable };
}

/** The resources that the VPC resource controller adds. */
export function podAddressesOf(state: LocalAwsState, instance: InstanceRecord, node: NodeRecord): Partial<NodeRecord> {
  const count = { [podAddressResource]: String(podAddresses(state, instance)) };
  return { allocatable: { ...node.allocatable, ...count } };
}

/** Like EKS' node manager: applies a changed configuration to existing nodes. */
export function relabelled(node: NodeRecord, before: Nodegroup, after: Nodegroup): Partial<NodeRecord> {
  const gone = Object.keys(before.labels ?? {});
  const kept = Object.entries(node.labels).filter(([key]) => !gone.includes(key));
  const [old = [], current = []] = [before, after].map(({ taints = [] }) =>
    taints.map((taint) => nodeTaint(taint) as Taint),
  );
  const isOfGroup = (taint: Taint) =>
    [...old, ...current].some((other) => other.key === taint.key && other.effect === taint.effect);
  return {
    labels: { ...Object.fromEntries(kept), ...after.labels },
    taints: [...node.taints.filter((taint) => !isOfGroup(taint)), ...current],
  };
}
