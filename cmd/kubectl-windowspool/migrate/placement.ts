/** What a pod spec must change so that its pods run in the new pool. Pure. */
import type { V1PodSpec } from '@kubernetes/client-node';
import type { Wire } from '../../../controllers/kubernetes/objects.ts';
import { foreignText } from '../../../controllers/windowspool/ports/foreignText.ts';
import type { Toleration } from '../../../controllers/windowspool/ports/runtimeClasses.ts';
import { describeTaint, untolerated } from '../../../controllers/windowspool/runtimeClass/runtimeClass.ts';
import { labelIn } from '../../../controllers/windowspool/util/labelSelector.ts';
import { compact, joined } from '../../../controllers/windowspool/util/words.ts';
import { buildOfImage, imageFor, LONGEST_IMAGE } from '../../../controllers/workloads/images.ts';
import {
  describeAnswer,
  fitOf,
  type ImageAnswers,
  NO_ANSWERS,
  withAnswers as withRegistries,
} from '../../../controllers/workloads/imageVariants.ts';
import { imageFindingsOf, isProcessIsolated } from '../../../controllers/workloads/lint.ts';
import type { ClusterRuntimeClass } from '../runtimeClasses.ts';
import { fits, type Move, type Requirements, type Side, type Term, taintsOf } from './side.ts';

export type PodSpec = Wire<V1PodSpec>;

/** A change of a pod spec. */
export interface Change {
  /** Of the pod spec: `runtimeClassName`, `nodeSelector`, `image` and so on. */
  readonly field: string;
  /** The current value. */
  readonly from?: string;
  /** The new value, where it is known. */
  readonly to?: string;
  /** Both as text, or what to do. */
  readonly text: string;
}

/** What a pod spec must change. */
export interface Placement {
  readonly changes: readonly Change[];
  /** Sentences. */
  readonly advice: readonly string[];
  /** The images that must be of the build of the new pool. */
  readonly images: readonly ContainerImage[];
}

interface ContainerImage {
  /** The name of the container. */
  readonly name: string;
  readonly image: string;
}

/** Whether the pods can run in the old pool, but not in the new one: by their RuntimeClass, node selector or node affinity. */
export function selectsOldPool(spec: PodSpec, move: Move): boolean {
  const requirements = requirementsOf(spec, move);
  return fits(move.from, requirements) && !fits(move.to, requirements);
}

/**
 * What the pod spec must change. Of a pod, the nodeName is the scheduler's, and the nodeSelector includes that of its RuntimeClass.
 * @param kind of the object with the pod spec
 */
export function placementOf(spec: PodSpec, kind: string, move: Move): Placement {
  const { to } = move;
  const before = classOf(spec, move);
  const mustChange = before !== undefined && !fits(to, { nodeSelector: selectorOf(before), terms: undefined });
  const after = mustChange ? to.runtimeClass : before;
  const selector = ownSelector(spec, before);
  const images = imagesOf(spec, after, move);
  const ofImages = imageChanges(images, to, NO_ANSWERS);
  return {
    changes: compact([
      mustChange && changed('runtimeClassName', before.metadata.name, to.runtimeClass.metadata.name),
      ...selectorChanges(selector, to),
      affinityChange(spec, to),
      kind !== 'Pod' && spec.nodeName && nodeNameChange(spec.nodeName),
      ...tolerationChanges(spec, after, to),
      ...ofImages.changes,
    ]),
    advice: ofImages.advice,
    images,
  };
}

/** The placement with what registries say of the images. */
export function withAnswers({ changes, images }: Placement, { to }: Move, answers: ImageAnswers): Placement {
  const { changes: ofImages, advice } = imageChanges(images, to, answers);
  return { changes: [...changes.filter(({ field }) => field !== 'image'), ...ofImages], advice, images };
}

function changed(field: string, from: string, to: string, name = field): Change {
  return { field, from, to, text: `${name}: ${from} -> ${to}` };
}

function classOf({ runtimeClassName }: PodSpec, { runtimeClasses }: Move): ClusterRuntimeClass | undefined {
  return runtimeClasses.find(({ metadata }) => metadata.name === runtimeClassName);
}

function selectorOf(runtimeClass: ClusterRuntimeClass | undefined): Readonly<Record<string, string>> {
  return runtimeClass?.scheduling?.nodeSelector ?? {};
}

/** The node selector without what the RuntimeClass adds: the API server merges it into the spec of a pod. */
function ownSelector({ nodeSelector = {} }: PodSpec, runtimeClass: ClusterRuntimeClass | undefined) {
  const added = selectorOf(runtimeClass);
  return Object.fromEntries(Object.entries(nodeSelector).filter(([key, value]) => labelIn(added, key) !== value));
}

function termsOf({ affinity }: PodSpec): readonly Term[] | undefined {
  return affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
}

function requirementsOf(spec: PodSpec, move: Move): Requirements {
  return { nodeSelector: { ...selectorOf(classOf(spec, move)), ...spec.nodeSelector }, terms: termsOf(spec) };
}

function selectorChanges(selector: Readonly<Record<string, string>>, to: Side): Change[] {
  const changes = Object.entries(selector).flatMap(([key, value]): Change[] => {
    if (fits(to, { nodeSelector: { [key]: value }, terms: undefined })) return [];
    const wanted = labelIn(to.labels, key);
    if (wanted !== undefined) return [changed('nodeSelector', value, wanted, `nodeSelector ${key}`)];
    const text = `nodeSelector ${key}: ${value}. No node of pool ${to.name} has this label: remove it.`;
    return [{ field: 'nodeSelector', from: value, text }];
  });
  if (changes.length > 0 || fits(to, { nodeSelector: selector, terms: undefined })) return changes;
  return [{ field: 'nodeSelector', text: `nodeSelector: no node of pool ${to.name} has all of its labels.` }];
}

function affinityChange(spec: PodSpec, to: Side): Change | undefined {
  if (fits(to, { nodeSelector: {}, terms: termsOf(spec) })) return undefined;
  const text = `affinity: the required node affinity matches no node of pool ${to.name}. Change it.`;
  return { field: 'affinity', text };
}

function nodeNameChange(nodeName: string): Change {
  return { field: 'nodeName', from: nodeName, text: `nodeName: ${nodeName}. Remove it: the scheduler chooses a node.` };
}

function tolerationChanges(spec: PodSpec, runtimeClass: ClusterRuntimeClass | undefined, to: Side): Change[] {
  const own = (spec.tolerations ?? []) as readonly Toleration[];
  const tolerations = [...own, ...(runtimeClass?.scheduling?.tolerations ?? [])];
  return untolerated(taintsOf(to), tolerations).map((taint) => ({
    field: 'tolerations',
    to: describeTaint(taint),
    text: `tolerations: add one for ${describeTaint(taint)}, the taint of the nodes of pool ${to.name}.`,
  }));
}

/** The images that must be of the build of the new pool, because it is another one and the containers share the kernel of the node. */
function imagesOf(spec: PodSpec, runtimeClass: ClusterRuntimeClass | undefined, move: Move): ContainerImage[] {
  const { from, to, runtimeClasses } = move;
  if (from.build === to.build) return [];
  const { runtimeClassName: _, nodeSelector: __, ...rest } = spec;
  const moved = { ...rest, ...(runtimeClass && { runtimeClassName: runtimeClass.metadata.name }) };
  if (!isProcessIsolated({ kind: 'Pod', spec: moved }, runtimeClasses)) return [];
  // The API server accepts any text as an image, also the control characters of a terminal.
  return [...(spec.initContainers ?? []), ...spec.containers].map(({ name, image = '' }) => ({
    name,
    image: foreignText(image, LONGEST_IMAGE),
  }));
}

/** The names of images to ask registries about: those that must be of the build of the new pool, and those that could replace them. */
export function imagesToAsk({ images }: Placement, { to }: Move): string[] {
  return images.flatMap(({ image }) => compact([image, imageFor(image, to.tag)]));
}

/** What does not run on the build of the new pool, by the answers of registries, and by the tags of images without an answer. */
function imageChanges(
  images: readonly ContainerImage[],
  to: Side,
  answers: ImageAnswers,
): Pick<Placement, 'changes' | 'advice'> {
  const byTag = imageFindingsOf({ containers: images }, to.build, []);
  const findings = withRegistries(byTag, { os: 'windows', build: to.build, containers: images }, answers);
  const imageIn = new Map(images.map(({ name, image }) => [name, image]));
  const isUnknown = (image: string) =>
    buildOfImage(image) === undefined && (answers.get(image)?.kind ?? 'unknown') === 'unknown';
  const unknown = [...new Set(imageIn.values())].filter(isUnknown);
  return {
    changes: findings
      .filter(({ grade }) => grade === 'fails')
      .flatMap(({ names }) => names.map((name) => imageChange(name, imageIn.get(name) ?? '', to, answers))),
    advice: compact([
      ...findings.filter(({ grade }) => grade === 'advice').map(({ message }) => message),
      unknown.length > 0 && unknownImages(unknown, to, answers === NO_ANSWERS),
    ]),
  };
}

function imageChange(container: string, image: string, { tag, release, build }: Side, answers: ImageAnswers): Change {
  const field = `image (${container})`;
  const wanted = imageFor(image, tag);
  const [said, saidOfWanted] = [image, wanted ?? ''].map((each) => {
    const answer = answers.get(each);
    return answer === undefined || answer.kind === 'unknown' ? '' : ` ${each} ${describeAnswer(answer)}.`;
  });
  const replacement = answers.get(wanted ?? '');
  const isUsable =
    replacement?.kind === 'found'
      ? ['runs', 'unknown'].includes(fitOf(replacement.variants, build))
      : replacement?.kind !== 'notFound';
  if (wanted && isUsable) {
    const change = changed('image', image, wanted, field);
    return said ? { ...change, text: `${change.text}.${said}` } : change;
  }
  const text = `${field}: ${image}.${said} Use an image for ${release}, whose tags contain ${tag}.${saidOfWanted}`;
  return { field: 'image', from: image, text };
}

function unknownImages(images: readonly string[], { release }: Side, canAsk: boolean): string {
  const [subject, verb] = images.length === 1 ? ['tag', 'names'] : ['tags', 'name'];
  const remedy = `Check that there is an image for ${release}${canAsk ? ', or add --images to ask the registry' : ''}.`;
  return `The ${subject} of ${joined(images)} ${verb} no Windows build. ${remedy}`;
}
