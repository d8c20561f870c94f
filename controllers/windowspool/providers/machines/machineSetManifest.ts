/** The object of a pool with machines.template, as it should be. Pure. */

import type { InfrastructureTemplate, MachineSetTemplate, WindowsPool } from '../../api/api.gen.ts';
import { MANAGED_BY, MANAGED_BY_LABEL, POOL_KEY, TEMPLATE_HASH_ANNOTATION } from '../../api/labels.ts';
import type { MachineSet } from '../../ports/machines.ts';
import type { MachineSetManifests, Manifest } from '../../ports/ownMachineSets.ts';
import { machinesIn } from '../../rules/nodeSource.ts';
import { apiGroupOf } from '../../util/apiGroup.ts';
import { hashOf } from '../../util/hash.ts';

/** The template of a pool; undefined if a user owns the object. */
export function templateIn({ spec }: Pick<WindowsPool, 'spec'>): MachineSetTemplate | undefined {
  return machinesIn(spec).template;
}

/** Identifies a version of the template: the object has it once it was applied. */
export function hashOfTemplate(template: MachineSetTemplate): string {
  return hashOf(template);
}

/**
 * The object, and its infrastructure template if the pool has one, which gets another name for each content.
 * @param seen the object as it is: its number of replicas stays
 */
export function manifestsFor(
  { metadata: { name: pool }, spec }: Pick<WindowsPool, 'metadata' | 'spec'>,
  template: MachineSetTemplate,
  seen: MachineSet | undefined,
): MachineSetManifests {
  const { apiVersion, kind, metadata, infrastructureTemplate } = template;
  const owned = { [POOL_KEY]: pool, [MANAGED_BY_LABEL]: MANAGED_BY };
  const replicas = seen ? seen.replicas : machinesIn(spec).desiredSize;
  const infrastructure = infrastructureTemplate && infrastructureOf(infrastructureTemplate, metadata, owned);
  return {
    object: {
      apiVersion,
      kind,
      metadata: {
        namespace: metadata.namespace,
        name: metadata.name,
        labels: { ...metadata.labels, ...owned },
        annotations: { ...metadata.annotations, [TEMPLATE_HASH_ANNOTATION]: hashOfTemplate(template) },
        ...(seen && { uid: seen.uid, resourceVersion: seen.resourceVersion }),
      },
      spec: {
        ...withStrategy(template),
        ...(replicas !== undefined && { replicas }),
        ...(infrastructure && { template: withInfrastructure(template, infrastructure) }),
      },
    },
    ...(infrastructure && { infrastructure }),
  };
}

function infrastructureOf(
  { apiVersion, kind, spec }: InfrastructureTemplate,
  { namespace, name }: MachineSetTemplate['metadata'],
  labels: Readonly<Record<string, string>>,
): Manifest {
  // Another version is the same template: with another name, all nodes would be replaced.
  const content = hashOf([apiGroupOf(apiVersion), kind, spec]);
  return { apiVersion, kind, metadata: { namespace, name: `${name}-${content}`, labels }, spec };
}

function isV1beta1({ apiVersion }: MachineSetTemplate): boolean {
  return apiVersion === 'cluster.x-k8s.io/v1beta1';
}

/** Nodes are replaced by the pool unless the template says who does: maintenance windows and the budget apply only with OnDelete. */
function withStrategy(template: MachineSetTemplate): MachineSetTemplate['spec'] {
  const { kind, spec } = template;
  if (kind !== 'MachineDeployment') return spec;
  const strategy = { type: 'OnDelete' };
  if (isV1beta1(template)) return { strategy, ...spec };
  return { ...spec, rollout: { strategy, ...recordIn(spec.rollout) } };
}

/** The template of the Machines, which refers to the infrastructure template. The versions of Cluster API have different references. */
function withInfrastructure(template: MachineSetTemplate, { apiVersion, kind, metadata }: Manifest): object {
  const { namespace, name } = metadata;
  const infrastructureRef = isV1beta1(template)
    ? { apiVersion, kind, namespace, name }
    : { apiGroup: apiGroupOf(apiVersion), kind, name };
  const machines = recordIn(template.spec.template);
  return { ...machines, spec: { ...recordIn(machines.spec), infrastructureRef } };
}

/** A field that should be an object; another value is left to the API that checks it. */
function recordIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** The platforms on which the names of Machines become names of Windows computers, by the kind of their provider spec. */
const SHORT_NAMES: readonly unknown[] = ['AzureMachineProviderSpec', 'VSphereMachineProviderSpec'];
const LONGEST_SHORT_NAME = 9;

/** What is wrong with a template that no API rejects, in sentences; undefined if it can be applied. */
export function templateFault({ apiVersion, metadata: { name }, spec }: MachineSetTemplate): string | undefined {
  if ('replicas' in spec)
    return 'machines.template.spec.replicas must not be set. Remove this field, and set machines.desiredSize instead.';
  const machines = recordIn(recordIn(recordIn(spec.template).spec).providerSpec);
  const { kind } = recordIn(machines.value);
  if (apiVersion.startsWith('cluster.x-k8s.io/') || !SHORT_NAMES.includes(kind) || name.length <= LONGEST_SHORT_NAME)
    return undefined;
  return `machines.template.metadata.name is ${name}, which has ${name.length} characters. With ${kind}, the names of Machines become names of Windows computers, so it must have at most ${LONGEST_SHORT_NAME}. Create another pool with a shorter name of the MachineSet.`;
}
