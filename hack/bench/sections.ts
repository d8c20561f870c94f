import { coldSync } from './coldSync.ts';
import { days } from './days.ts';
import { gate } from './gate.ts';
import { idle } from './idle.ts';
import { karpenter } from './karpenter.ts';
import { noise } from './noise.ts';
import { pod } from './pod.ts';
import { provision } from './provision.ts';
import { reaction } from './reaction.ts';
import { scale } from './scale.ts';
import type { Section } from './section.ts';
import { settled } from './settled.ts';
import { storm } from './storm.ts';

/** In the order in which they run: sections with the same nodes follow each other, and the one that not every machine can run is the last. */
export const sections: readonly Section[] = [
  idle,
  provision,
  settled,
  coldSync,
  noise,
  reaction,
  gate,
  karpenter,
  storm,
  scale,
  days,
  pod,
];
