/** What config/rbac and its components grant to the operator, one verb on one resource at a time, and which of them a list of requests needed. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { type AuditEvent, refused } from './audit.ts';

/** The default roles, and those of components. */
const FOLDERS = ['rbac', 'windows-ipam', 'karpenter', 'machines', 'machine-templates'].map((name) =>
  fileURLToPath(new URL(`../../../config/${name}/`, import.meta.url)),
);
const ACCOUNT = 'windowspool-operator';

/** The smallest part of a role that can be removed. */
export interface Grant {
  /** Kind and name of the role. */
  readonly role: string;
  /** Of a Role; undefined: everywhere. */
  readonly namespace?: string;
  readonly apiGroup: string;
  /** With its subresource, such as `pods/eviction`. */
  readonly resource: string;
  /** Undefined: objects of any name. */
  readonly name?: string;
  readonly verb: string;
}

/** The parts of a request that decide which grant it needed. */
export type Request = Pick<AuditEvent, 'verb' | 'objectRef' | 'responseStatus'>;

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

/** The fields of a manifest of config/rbac that are read. */
export interface RbacObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string }[];
}

/** The grants of config/rbac and of the components. */
export async function shippedGrants(): Promise<Grant[]> {
  const paths = await Promise.all(
    FOLDERS.map(async (folder) => (await readdir(folder)).map((name) => join(folder, name))),
  );
  const manifests = paths.flat().filter((path) => !path.endsWith('kustomization.yaml'));
  return grantsOf(await Promise.all(manifests.map(async (path) => parse(await readFile(path, 'utf8')))));
}

/** The grants of the roles that are bound to the operator's ServiceAccount; roles for users are not included. */
export function grantsOf(objects: readonly RbacObject[]): Grant[] {
  const bound = objects
    .filter(({ subjects }) => subjects?.some(({ kind, name }) => kind === 'ServiceAccount' && name === ACCOUNT))
    .map(({ roleRef }) => `${roleRef?.kind} ${roleRef?.name}`);
  return objects
    .filter(({ kind, metadata }) => bound.includes(`${kind} ${metadata.name}`))
    .flatMap((role) => (role.rules ?? []).flatMap((rule) => grantsOfRule(role, rule)));
}

function grantsOfRule({ kind, metadata }: RbacObject, rule: Rule): Grant[] {
  const { apiGroups = [], resources = [], resourceNames, verbs } = rule;
  const where = { role: `${kind} ${metadata.name}`, ...(metadata.namespace && { namespace: metadata.namespace }) };
  const names: readonly (string | undefined)[] = resourceNames ?? [undefined];
  return apiGroups.flatMap((apiGroup) =>
    resources.flatMap((resource) =>
      names.flatMap((name) => verbs.map((verb) => ({ ...where, apiGroup, resource, ...(name && { name }), verb }))),
    ),
  );
}

/** Whether RBAC would let a request pass by this grant. Non-resource requests, such as /version, are not covered by roles here. */
export function covers(grant: Grant, { verb, objectRef = {} }: Pick<Request, 'verb' | 'objectRef'>): boolean {
  const { apiGroup = '', resource, subresource, name, namespace } = objectRef;
  return (
    grant.verb === verb &&
    grant.apiGroup === apiGroup &&
    grant.resource === (subresource ? `${resource}/${subresource}` : resource) &&
    (grant.name === undefined || grant.name === name) &&
    (grant.namespace === undefined || grant.namespace === namespace)
  );
}

/** The RBAC checks of a request: a server-side apply that created its object also needed the verb create. */
function asAuthorized(event: Request): Request[] {
  const isCreation = event.verb === 'patch' && event.responseStatus?.code === 201;
  return isCreation ? [event, { ...event, verb: 'create' }] : [event];
}

/** The grants that no allowed request needed, as text. */
export function unneeded(grants: readonly Grant[], events: readonly Request[]): string[] {
  const passed = events.filter(({ responseStatus }) => responseStatus?.code !== 403).flatMap(asAuthorized);
  return grants.filter((grant) => !passed.some((event) => covers(grant, event))).map(wordsOf);
}

/**
 * The denied requests that no grant covers, as text, each once. Denials of granted requests come from tests that removed the permission;
 * allowed requests without a grant have it from another role.
 */
export function missing(grants: readonly Grant[], events: readonly Request[]): string[] {
  const uncovered = refused(events).filter((event) => !grants.some((grant) => covers(grant, event)));
  return [
    ...new Set(
      uncovered.map(({ verb, objectRef: { apiGroup = '', resource = '', subresource, name, namespace } = {} }) =>
        wordsOf({
          role: 'no role',
          apiGroup,
          resource: subresource ? `${resource}/${subresource}` : resource,
          verb,
          ...(name && { name }),
          ...(namespace && { namespace }),
        }),
      ),
    ),
  ];
}

function wordsOf({ role, namespace, apiGroup, resource, name, verb }: Grant): string {
  const what = [resource, apiGroup].filter((part) => part !== '').join('.');
  return [role, verb, what, name, namespace && `in ${namespace}`].filter(Boolean).join(' ');
}
