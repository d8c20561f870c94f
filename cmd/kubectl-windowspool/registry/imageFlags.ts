/** The flags of the commands that can ask the registries of images. */
import { Option } from 'commander';
import type { ClusterFlags } from '../cluster.ts';
import { Registries } from './registries.ts';

/** The values of the flags. */
export interface ImageFlags {
  readonly images?: boolean;
  readonly insecureRegistry?: readonly string[];
}

/** --images and --insecure-registry */
export const imageOptions = (): Option[] => [
  new Option(
    '--images',
    'Ask the registries of images which Windows builds they are for, with the credentials of docker login. Default: their tags decide.',
  ),
  new Option(
    '--insecure-registry <host>',
    'As --images, and ask this registry over HTTP, not HTTPS. Repeat the flag for several registries.',
  )
    .argParser((host: string, others: readonly string[] = []) => [...others, host])
    .implies({ images: true }),
];

/** The registries to ask, with the environment of the process; undefined: the flags request none. */
export function registriesFor(
  { images, insecureRegistry, requestTimeout }: ImageFlags & ClusterFlags,
  signal: AbortSignal,
): Registries | undefined {
  if (!images) return undefined;
  return new Registries({ env: process.env, signal, timeoutMs: requestTimeout, insecure: insecureRegistry ?? [] });
}
