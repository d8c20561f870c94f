/** Shared by the programs that coldSync measures: their arguments, and the line that they print when they are synced. */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { NodeRecord } from '../../../controllers/windowspool/ports/nodes.ts';
import { dump } from '../dump.ts';
import { memoryOf } from '../processFigures.ts';

export interface Arguments {
  readonly kubeconfig: string;
  /** Of a process that stands in for a pod. */
  readonly serviceAccountDir: string | undefined;
  readonly selector: string;
  /** Whether the images of nodes are kept. */
  readonly images: boolean;
  /** When the process was started, in epoch milliseconds. */
  readonly started: number;
  /** The file for the content of the store; undefined: none. */
  readonly dump: string | undefined;
}

/** One line of JSON; baseline/main.go prints the same. */
export interface Synced {
  /** From the start of the process to the first complete list in the store. */
  readonly ms: number;
  /** CPU time of all threads until then. */
  readonly cpuMs: number;
  readonly peakKiB: number;
  readonly items: number;
}

export function readArguments(): Arguments {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      kubeconfig: text,
      'service-account-dir': text,
      selector: text,
      started: text,
      dump: text,
      images: { type: 'boolean' },
    },
  });
  const { kubeconfig = '', 'service-account-dir': serviceAccountDir, selector = '', images = false } = values;
  return { kubeconfig, serviceAccountDir, selector, images, started: Number(values.started), dump: values.dump };
}

/** Prints the figures; called at the moment of the sync. */
export function printSynced(started: number, items: number): void {
  const ms = performance.timeOrigin + performance.now() - started;
  const { user, system } = process.cpuUsage();
  const synced: Synced = { ms, cpuMs: (user + system) / 1_000, peakKiB: memoryOf('self').peakKiB, items };
  console.log(JSON.stringify(synced));
}

/** Writes the content of the store to the requested file. */
export async function writeDump(file: string | undefined, records: () => readonly NodeRecord[]): Promise<void> {
  if (file !== undefined) await writeFile(file, dump(records()));
}
