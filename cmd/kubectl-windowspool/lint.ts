/** `kubectl windowspool lint`: finds workloads that cannot run on Windows, in manifests or in the cluster. */
import { basename } from 'node:path';
import type { V1Pod } from '@kubernetes/client-node';
import { Option } from 'commander';
import { isForbidden } from '../../controllers/kubernetes/errors.ts';
import { messageOf } from '../../controllers/kubernetes/kubernetesError.ts';
import { controllerOf, type Wire } from '../../controllers/kubernetes/objects.ts';
import { KIND } from '../../controllers/kubernetes/pools.ts';
import { parseKernelVersion } from '../../controllers/windowspool/nodes/windowsVersions.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import { count, sentence } from '../../controllers/windowspool/util/words.ts';
import { imagesToAsk, NO_ANSWERS, withAnswers } from '../../controllers/workloads/imageVariants.ts';
import {
  type Finding,
  findingsOf,
  imageFindingsOf,
  type LintedRuntimeClass,
  operatingSystemOf,
  POD_SPEC_PATHS,
  type PodImages,
  podImagesOf,
  podOn,
  runtimeClassNameOf,
} from '../../controllers/workloads/lint.ts';
import type { WindowsWorkload } from '../../controllers/workloads/relatedRules.ts';
import type { Cluster } from './cluster.ts';
import type { PluginCommand } from './command.ts';
import { EXIT, Failure, unlessForbidden } from './failure.ts';
import { outputOption } from './flags.ts';
import type { LintedWorkload, Manifest } from './lintResult.ts';
import { manifestFiles, objectsIn, readManifest, shown } from './manifests.ts';
import { handlerFindings, taintFindings, versionFindings } from './objectFindings.ts';
import { type OutputFormat, printResult, printSkipped } from './output.ts';
import { poolImagesIn } from './poolImages.ts';
import { type ImageFlags, imageOptions, registriesFor } from './registry/imageFlags.ts';
import { type Registries, unknownImages } from './registry/registries.ts';
import { lintedRelated, lintRelatedInCluster, windowsWorkload } from './relatedObjects.ts';
import { runtimeClassesOf } from './runtimeClasses.ts';
import type { Terminal } from './terminal.ts';
import { labelled, type Paint } from './text.ts';
import { isOfWorkload, listAllowed, PODS, type Resource, WORKLOADS } from './workloadLists.ts';

export interface LintFlags extends ImageFlags {
  readonly live?: boolean;
  readonly namespace?: string;
  readonly output?: OutputFormat;
}

/** A result, before the registries of its images are asked. */
interface Evaluated extends Omit<LintedWorkload, 'images'> {
  readonly podImages?: PodImages | undefined;
  /** The UID of the controller of a pod. */
  readonly owner?: string;
}

/** Throws unless there are either files or --live. */
function checkLintArguments(files: readonly string[], { live, namespace }: LintFlags): void {
  if ((files.length === 0) === !live) throw new Failure('Name either files, or the cluster with --live.', EXIT.usage);
  if (namespace !== undefined && !live) throw new Failure('--namespace requires --live.', EXIT.usage);
}

/**
 * Prints the findings. Fails if a workload does not run on Windows, or could not be evaluated.
 * @param registries to be asked about images; without them, tags decide
 */
export async function lint(
  connect: () => Promise<Cluster>,
  terminal: Terminal,
  files: readonly string[],
  flags: LintFlags,
  registries?: Registries,
): Promise<void> {
  const skipped: string[] = [];
  const workloads = flags.live
    ? await lintCluster(await connect(), flags.namespace, skipped, registries)
    : await withRegistries(await lintFiles(connect, files, skipped), skipped, registries);
  const { output, live, namespace } = flags;
  printSkipped(terminal, skipped);
  const where = live
    ? namespace === undefined
      ? 'the cluster'
      : `namespace ${namespace}`
    : files.map(shown).join(', ');
  printResult(terminal, output, workloads, (columns) => lintLines(workloads, where, columns, terminal.paint));
  // The lines say what failed.
  if (workloads.some(isFailed)) throw new Failure('', EXIT.failed);
}

function isFailed({ findings, error }: LintedWorkload): boolean {
  return error !== undefined || findings.some(({ grade }) => grade === 'fails');
}

const GRADES = { fails: ['bad', 'FAILS '], advice: ['warning', 'ADVICE'] } as const;
const TEXT_COLUMN = 12;

/** The lines about all workloads with findings, below their files, and the numbers of workloads. */
function lintLines(workloads: readonly LintedWorkload[], where: string, columns: number, paint: Paint): string[] {
  if (workloads.length === 0) return [`No workloads found in ${where}.`];
  const found = workloads.filter(({ findings, error }) => findings.length > 0 || error !== undefined);
  const item = (label: string, text: string) => labelled(`    ${label}  `, TEXT_COLUMN, text, columns);
  const lines = found.flatMap(({ file, kind, namespace, name, findings, error }, index) => [
    ...(file !== undefined && file !== found[index - 1]?.file ? [paint('title', shown(file))] : []),
    `  ${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`,
    ...(error === undefined ? [] : item(paint('bad', 'ERROR '), error)),
    ...findings.flatMap(({ grade, message }) => item(paint(GRADES[grade][0], GRADES[grade][1]), message)),
  ]);
  const checked = workloads.filter(({ kind, error }) => kind in POD_SPEC_PATHS && error === undefined);
  const failed = checked.filter(isFailed).length;
  const advised = checked.filter(({ findings }) => findings.length > 0).length - failed;
  const broken = workloads.filter(({ error }) => error !== undefined).length;
  const others = workloads.length - checked.length - broken;
  const summary = [
    `${count(checked.length, 'workload')} checked: ${failed} cannot run on Windows, ${advised} with advice`,
    ...(others > 0 ? [`${count(others, 'other object')} with findings`] : []),
    ...(broken > 0 ? [`${broken} could not be checked`] : []),
  ].join('; ');
  return [...lines, ...(lines.length > 0 ? [''] : []), summary, ...answersOf(workloads)];
}

/** Asks the registries about the images, if they are given. `skipped` gets what they do not say. */
async function withRegistries(
  workloads: readonly Evaluated[],
  skipped: string[],
  registries: Registries | undefined,
): Promise<(LintedWorkload & Pick<Evaluated, 'owner'>)[]> {
  const asked = workloads.map(({ podImages, findings }) => (podImages ? imagesToAsk(podImages, findings) : []));
  const answers = registries ? await registries.ask(asked.flat()) : NO_ANSWERS;
  skipped.push(...unknownImages(answers));
  return workloads.map(({ podImages, ...workload }, index) => ({
    ...workload,
    findings: podImages ? withAnswers(workload.findings, podImages, answers) : workload.findings,
    ...(registries && { images: [...new Set(asked[index])].flatMap((image) => answers.get(image) ?? []) }),
  }));
}

/** How many images the registries answered about, if they were asked. */
function answersOf(workloads: readonly LintedWorkload[]): string[] {
  if (workloads.every(({ images }) => images === undefined)) return [];
  const answers = new Map(workloads.flatMap(({ images = [] }) => images.map(({ image, kind }) => [image, kind])));
  const known = [...answers.values()].filter((kind) => kind !== 'unknown').length;
  return [`${known} of ${count(answers.size, 'image')} checked with their registries.`];
}

async function lintFiles(
  connect: () => Promise<Cluster>,
  paths: readonly string[],
  skipped: string[],
): Promise<Evaluated[]> {
  const objects: { readonly file: string; readonly manifest: Manifest }[] = [];
  const broken: Evaluated[] = [];
  for (const path of paths)
    for (const file of await manifestFiles(path)) {
      try {
        for (const manifest of objectsIn(await readManifest(file), file)) objects.push({ file, manifest });
      } catch (error) {
        // A folder often has a file that is no manifest: it costs only itself.
        if (!(error instanceof Failure) || file === path) throw error;
        broken.push({ file, kind: 'File', name: basename(file), findings: [], error: error.message });
      }
    }
  const own = objects
    .map(({ manifest }) => manifest)
    .filter(({ kind, metadata }) => kind === 'RuntimeClass' && typeof metadata?.name === 'string') as unknown[];
  const known = own as readonly LintedRuntimeClass[];
  const isKnown = (name: string | undefined) =>
    name === undefined || known.some(({ metadata }) => metadata.name === name);
  // Files can be checked without a cluster: then the RuntimeClasses that only the cluster has are unknown. Other files need no cluster at all.
  const others = objects.every(({ manifest }) => isKnown(runtimeClassNameOf(manifest)))
    ? []
    : await unlessForbidden(connect().then(runtimeClassesOf), [], UNKNOWN_CLASSES, skipped, () => true);
  const classes = [...known, ...others];
  const onWindows = objects.flatMap(({ manifest }) => windowsWorkload(manifest, classes) ?? []);
  const claims = objects.map(({ manifest }) => manifest).filter(({ kind }) => kind === CLAIM);
  const checked = objects.flatMap(({ file, manifest }) => {
    const result =
      linted(manifest, classes) ??
      lintedClass(manifest) ??
      lintedPool(manifest) ??
      lintedRelated(manifest, onWindows, claims);
    return result ? [{ file, ...result }] : [];
  });
  return [...broken, ...checked];
}

/** The result for a RuntimeClass that selects Windows; undefined for another object, and for one without findings. */
function lintedClass(manifest: Manifest): LintedWorkload | undefined {
  const { kind, metadata, handler, scheduling } = manifest as Manifest & Partial<LintedRuntimeClass>;
  if (kind !== 'RuntimeClass' || scheduling?.nodeSelector?.['kubernetes.io/os'] !== 'windows') return undefined;
  const findings = [...versionFindings(manifest), ...handlerFindings(handler)];
  return findings.length === 0 ? undefined : { kind, name: metadata?.name ?? '(no name)', findings };
}

const CLAIM = 'PersistentVolumeClaim';

const UNKNOWN_CLASSES =
  'The RuntimeClasses of the cluster are unknown, so workloads that only name one count as Linux workloads';
const UNKNOWN_POOLS = 'The images of pools are not checked';
const UNKNOWN_NODES =
  'The nodes are unknown, so their Windows builds and taints are not compared with the images and tolerations of pods';

/** The result for one object; undefined if it is not a workload. `pod`: what selects its nodes. */
function linted(
  manifest: Manifest,
  classes: readonly LintedRuntimeClass[],
  evaluate: () => readonly Finding[] = () => [
    ...versionFindings(manifest).filter(() => operatingSystemOf(manifest, classes) === 'windows'),
    ...findingsOf(manifest, classes),
  ],
  pod: object = manifest,
): Evaluated | undefined {
  const { kind } = manifest;
  if (typeof kind !== 'string' || !(kind in POD_SPEC_PATHS)) return undefined;
  const identity = identityOf(manifest, kind);
  try {
    return { ...identity, findings: evaluate(), podImages: podImagesOf(pod, classes) };
  } catch (error) {
    return { ...identity, findings: [], error: sentence(messageOf(error)) };
  }
}

function identityOf({ metadata }: Manifest, kind: string): Pick<Evaluated, 'kind' | 'namespace' | 'name'> {
  return {
    kind,
    ...(metadata?.namespace !== undefined && { namespace: metadata.namespace }),
    name: metadata?.name ?? metadata?.generateName ?? '(no name)',
  };
}

/** The result for the images of a WindowsPool; undefined if it has none. */
function lintedPool(manifest: Manifest): Evaluated | undefined {
  const found = poolImagesIn(manifest);
  if (!found) return undefined;
  const { spec, build } = found;
  const findings = imageFindingsOf(spec, build, []);
  return { ...identityOf(manifest, KIND), findings, podImages: podImagesOf(podOn(spec, build), []) };
}

/** What runs in the cluster. What a workload created is evaluated by the template of the workload. */
async function lintCluster(
  cluster: Cluster,
  namespace: string | undefined,
  skipped: string[],
  registries: Registries | undefined,
): Promise<LintedWorkload[]> {
  if (namespace !== undefined) await cluster.checkNamespace(namespace);
  const classes = await unlessForbidden(runtimeClassesOf(cluster), [], UNKNOWN_CLASSES, skipped);
  const nodes = await unlessForbidden(cluster.nodes(), [], UNKNOWN_NODES, skipped);
  const denied: string[] = [];
  const read = <T>(resource: Resource, keep: (object: Manifest) => T | undefined) =>
    listAllowed<Manifest, T>(cluster, resource, namespace, denied, keep);
  const workloads: Evaluated[] = [];
  const onWindows: WindowsWorkload[] = [];
  const lintOne = (object: Manifest) => {
    const workload = windowsWorkload(object, classes);
    if (workload) onWindows.push(workload);
    return linted(object, classes, () => [
      ...(workload ? taintFindings(object, classes, nodes) : []),
      ...findingsOf(object, classes),
    ]);
  };
  for (const [kind, resource] of Object.entries(WORKLOADS))
    workloads.push(
      ...(await read(resource, (object) =>
        isOfWorkload(object.metadata) || (kind === 'ReplicaSet' && isOldRevision(object))
          ? undefined
          : lintOne({ ...object, kind }),
      )),
    );
  const builds = buildsOf(nodes);
  const pods = await read(PODS, (object) =>
    lintedPod({ ...object, kind: 'Pod' }, classes, builds, registries !== undefined),
  );
  // Without any of them, nothing was checked.
  if (denied.length > Object.keys(WORKLOADS).length)
    throw new Failure(`You may list neither workloads nor pods. ${denied[0]} Choose a namespace with --namespace.`);
  const related = await lintRelatedInCluster(cluster, namespace, onWindows, denied);
  skipped.push(...denied);
  const isExpected = (error: unknown) => isForbidden(error) || error instanceof Failure;
  const pools =
    namespace === undefined ? await unlessForbidden(cluster.pools(), [], UNKNOWN_POOLS, skipped, isExpected) : [];
  workloads.push(...pools.flatMap((pool) => lintedPool({ ...pool, kind: KIND }) ?? []));
  const all = await withRegistries([...workloads, ...pods], skipped, registries);
  const templates = all.slice(0, workloads.length);
  return [...templates, ...onePerOwner(all.slice(workloads.length), templates), ...related];
}

/** Whether a ReplicaSet is one without pods that its controller keeps, such as a Rollout of Argo. */
function isOldRevision({ metadata, spec }: Manifest & { readonly spec?: { readonly replicas?: number } }): boolean {
  return controllerOf(metadata) !== undefined && spec?.replicas === 0;
}

/** The Windows build of each Windows node. */
function buildsOf(nodes: readonly NodeRecord[]): ReadonlyMap<string, string> {
  return new Map(
    nodes.flatMap(({ name, kernelVersion }) => {
      const build = parseKernelVersion(kernelVersion)?.build;
      return build === undefined ? [] : [[name, build] as const];
    }),
  );
}

type ClusterPod = Manifest & Wire<Pick<V1Pod, 'spec'>>;

/**
 * The findings of a pod, with its images compared with the build of its node, which is known once it is scheduled. Of a pod that a workload created, only these.
 * @param asks whether registries are asked, which can find what the tags do not show
 */
function lintedPod(
  pod: ClusterPod,
  classes: readonly LintedRuntimeClass[],
  builds: ReadonlyMap<string, string>,
  asks: boolean,
): Evaluated | undefined {
  const owner = controllerOf(pod.metadata);
  const spec = pod.spec ?? {};
  const build = builds.get(pod.spec?.nodeName ?? '');
  const onNode =
    build === undefined
      ? undefined
      : linted(pod, classes, () => imageFindingsOf(spec, build, classes), podOn(spec, build));
  const images = onNode?.findings ?? [];
  if (owner && isOfWorkload(pod.metadata))
    return onNode && (asks || images.length > 0) ? { ...onNode, owner: owner.uid } : undefined;
  const result = linted(pod, classes);
  if (!result) return undefined;
  const own = result.findings.filter(({ rule }) => !images.some((image) => image.rule === rule));
  return { ...result, findings: [...images, ...own], podImages: onNode?.podImages ?? result.podImages };
}

/** One pod of each controller, if it violates a rule that the template of the controller does not. */
function onePerOwner(
  pods: readonly (LintedWorkload & Pick<Evaluated, 'owner'>)[],
  templates: readonly Pick<LintedWorkload, 'namespace' | 'name' | 'findings'>[],
): LintedWorkload[] {
  const owners = new Set<string>();
  return pods.flatMap(({ owner, ...pod }) => {
    if (owner === undefined) return [pod];
    if (owners.has(owner) || pod.findings.length === 0) return [];
    owners.add(owner);
    const rules = templates
      .filter(({ namespace, name }) => namespace === pod.namespace && pod.name.startsWith(`${name}-`))
      .flatMap(({ findings }) => findings.map(({ rule }) => rule));
    const findings = pod.findings.filter(({ rule }) => !rules.includes(rule));
    return findings.length > 0 ? [{ ...pod, findings }] : [];
  });
}

/** `kubectl windowspool lint`. */
export const lintCommand: PluginCommand<LintFlags> = {
  usage: 'lint [files...]',
  group: 'Workload Commands',
  summary: 'Find workloads that cannot run on Windows, in manifests or in the cluster.',
  examples: [
    ['Check the manifests of a folder', 'kubectl windowspool lint shop/'],
    ['Check what a chart renders', 'helm template shop | kubectl windowspool lint -'],
    ['Ask the registries which builds the images are for', 'kubectl windowspool lint shop/ --images'],
    ['Check what runs in a namespace', 'kubectl windowspool lint --live --namespace=shop'],
  ],
  options: [
    new Option('--live', 'Check what runs in the cluster: in --namespace, or in all namespaces.'),
    ...imageOptions(),
    outputOption(),
  ],
  check: checkLintArguments,
  run: ({ connect, terminal, signal }, files, flags) =>
    lint(connect, terminal, files, flags, registriesFor(flags, signal)),
};
