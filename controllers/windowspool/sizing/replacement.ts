/** How long the replacement of a node takes. Pure. */

/** A public source of a figure, and when it was published or last updated. */
export interface Source {
  readonly url: string;
  readonly date?: string;
}

/** A part of the replacement of a node, with the range of its duration in minutes. */
export interface Phase {
  readonly name: string;
  readonly fromMinutes: number;
  readonly toMinutes: number;
  /** What happens, and what the range is based on: sentences. */
  readonly about: string;
  readonly sources: readonly Source[];
}

/** The default of disruption.drain.timeout, in minutes. */
export const DRAIN_TIMEOUT_MINUTES = 15;

/** The phases of the replacement of a node whose image is not in the AMI, in their order. */
export const REPLACEMENT_PHASES: readonly Phase[] = [
  {
    name: 'Drain',
    fromMinutes: 0,
    toMinutes: DRAIN_TIMEOUT_MINUTES,
    about: `Pods are evicted, and end within their grace period (30s by default). disruption.drain.timeout limits the drain, ${DRAIN_TIMEOUT_MINUTES}m by default.`,
    sources: [{ url: 'https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination' }],
  },
  {
    name: 'New node',
    fromMinutes: 4,
    toMinutes: 8,
    about:
      'From the launch by EC2 Auto Scaling until the first pod accepts traffic, without cached images: reported by AWS. A user measured 5 minutes until the node joins.',
    sources: [
      {
        url: 'https://aws.amazon.com/blogs/containers/speeding-up-windows-container-launch-times-with-ec2-image-builder-and-image-cache-strategy/',
        date: '2022-01-11',
      },
      { url: 'https://hackernoon.com/how-i-reduced-eks-windows-node-start-time-from-5-min-to-90s', date: '2024-06-08' },
    ],
  },
];

/** The range of the time in minutes to replace that many nodes one after the other, as with disruption.maxUnavailable: 1. */
export function replacementMinutes(nodes: number): { readonly from: number; readonly to: number } {
  const sum = (of: (phase: Phase) => number) => REPLACEMENT_PHASES.reduce((total, phase) => total + of(phase), 0);
  return { from: nodes * sum(({ fromMinutes }) => fromMinutes), to: nodes * sum(({ toMinutes }) => toMinutes) };
}
