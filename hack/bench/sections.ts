import { coldSync } from './coldSync.ts';
import { gate } from './gate.ts';
import { idle } from './idle.ts';
import { noise } from './noise.ts';
import { provision } from './provision.ts';
import { reaction } from './reaction.ts';
import { scale } from './scale.ts';
import type { Section } from './section.ts';
import { settled } from './settled.ts';
import { storm } from './storm.ts';

/** In the order in which they run, so that sections with the same nodes follow each other. */
export const sections: readonly Section[] = [idle, provision, settled, coldSync, noise, reaction, gate, storm, scale];
