/** The controllers of OpenShift's Machine API, built from their Go modules, and the CRDs that they need. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { ensurePrograms, type Log } from '../gobuild/find.ts';
import { moduleFolder } from '../gobuild/moduleFolder.ts';
import type { GoModule } from '../gobuild/program.ts';

const OPERATOR = 'github.com/openshift/machine-api-operator';
const API = 'github.com/openshift/api';

/** `machinecontroller` is the machine controller, which drains, with a double of a cloud. */
const openShiftModule: GoModule<'machineset' | 'nodelink-controller' | 'machine-healthcheck' | 'machinecontroller'> = {
  dir: fileURLToPath(new URL('.', import.meta.url)),
  name: 'openshift',
  what: "the controllers of OpenShift's Machine API",
  programs: [
    { name: 'machineset', package: `${OPERATOR}/cmd/machineset`, buildSeconds: 120 },
    { name: 'nodelink-controller', package: `${OPERATOR}/cmd/nodelink-controller`, buildSeconds: 3 },
    { name: 'machine-healthcheck', package: `${OPERATOR}/cmd/machine-healthcheck`, buildSeconds: 3 },
    { name: 'machinecontroller', package: './machinecontroller', buildSeconds: 3 },
  ],
};

/** Those of the feature set CustomNoUpgrade have `authoritativeAPI`. */
const CRDS = [
  'machine/v1beta1/zz_generated.crd-manifests/0000_10_machine-api_01_machines-CustomNoUpgrade.crd.yaml',
  'machine/v1beta1/zz_generated.crd-manifests/0000_10_machine-api_01_machinesets-CustomNoUpgrade.crd.yaml',
  'machine/v1beta1/zz_generated.crd-manifests/0000_10_machine-api_01_machinehealthchecks.crd.yaml',
  'config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_infrastructures-Default.crd.yaml',
  'config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_dnses.crd.yaml',
];

/** The absolute paths of the controllers, which are built if they are missing. */
export const openShiftPrograms = (log: Log, signal?: AbortSignal) => ensurePrograms(openShiftModule, log, signal);

export interface OpenShiftCrd {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** The CRDs of Machines, MachineSets and MachineHealthChecks, and of the configuration of a cluster that the controllers read. */
export async function openShiftCrds(signal?: AbortSignal): Promise<readonly OpenShiftCrd[]> {
  const folder = await moduleFolder(openShiftModule, API, { signal });
  return Promise.all(CRDS.map(async (file) => parse(await readFile(join(folder, file), 'utf8'))));
}
