/** Nodes with a fault, and the steps that several tables have for them. */
import { buildOf, WINDOWS_BUILD_LABEL } from '../../nodes/windowsVersions.ts';
import { sampleNode } from '../fixtures.ts';

/** A node whose label has another build than its kernel. */
export const mislabelled = sampleNode({
  labels: { ...sampleNode().labels, [WINDOWS_BUILD_LABEL]: buildOf('Windows2019') },
});
export const LABEL = `labelNode ${mislabelled.name} 10.0.20348`;

/** A node of another Windows version. */
export const wrong = sampleNode({
  kernelVersion: '10.0.26100.1',
  labels: { ...sampleNode().labels, [WINDOWS_BUILD_LABEL]: '10.0.26100' },
});

/** The taint that quarantine sets. */
const QUARANTINE = 'status-taint.cluster-autoscaler.kubernetes.io/winpool-quarantine:NoSchedule';
export const SET_QUARANTINE = `taintNode ${wrong.name} +${QUARANTINE}`;
