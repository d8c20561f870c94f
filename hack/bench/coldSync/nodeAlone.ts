/** A program that does nothing: what a process of Node.js takes in any case. */
import { parseArgs } from 'node:util';
import { memoryOf } from '../processFigures.ts';

const { values } = parseArgs({ options: { started: { type: 'string' } } });
const ms = performance.timeOrigin + performance.now() - Number(values.started);
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ ms, cpuMs: (user + system) / 1_000, peakKiB: memoryOf('self').peakKiB, items: 0 }));
