/** What the registry of an image says about the operating systems that the image is for, and the findings that follow from it. Pure. */
import { type Finding, messageOf, type PodImages } from './lint.ts';
import { COMPATIBILITY, REMEDY } from './placementRules.ts';
import type { Grade } from './rule.ts';
import { IMAGE_RULES, RULES } from './rules.ts';

/** One image behind a name: https://github.com/opencontainers/image-spec/blob/main/image-index.md */
export interface Variant {
  readonly os: string;
  readonly architecture: string;
  /** Of Windows: `10.0.20348.2762`. */
  readonly osVersion?: string;
}

/** The answer of a registry. */
export type ImageAnswer =
  | { readonly kind: 'found'; readonly image: string; readonly digest: string; readonly variants: readonly Variant[] }
  | { readonly kind: 'notFound'; readonly image: string; readonly registry: string }
  | { readonly kind: 'unknown'; readonly image: string; readonly reason: string };

/** Answers by image. An image without an answer keeps what its tag suggests. */
export type ImageAnswers = ReadonlyMap<string, ImageAnswer>;

export const NO_ANSWERS: ImageAnswers = new Map();

/**
 * Whether an image runs on Windows nodes. `olderBuild`: only by the compatibility of Windows Server 2025 with images since 2022. `unknown`: the registry does
 * not say the build, and containerd takes such a variant on every host.
 */
export type Fit = 'runs' | 'olderBuild' | 'otherBuild' | 'notWindows' | 'unknown';

/** Nodes of EKS node groups with Windows have no other architecture. */
const ARCHITECTURE = 'amd64';
const BUILD_2022 = 20348;
const BUILD_2025 = 26100;

/**
 * How the variants fit nodes of a build, such as `10.0.20348`; undefined: of any. The ranges are those of containerd:
 * https://github.com/containerd/platforms/blob/main/platform_windows_compat.go
 */
export function fitOf(variants: readonly Variant[], build: string | undefined): Fit {
  const windows = variants.filter(({ os, architecture }) => os === 'windows' && architecture === ARCHITECTURE);
  if (windows.length === 0) return variants.some(({ os }) => os === 'unknown') ? 'unknown' : 'notWindows';
  if (build === undefined) return 'runs';
  const host = Number(build.split('.')[2]);
  const builds = windows.map(({ osVersion }) => /^10\.0\.(\d+)(?:\.|$)/.exec(osVersion ?? '')?.[1]);
  if (builds.some((each) => Number(each) === host)) return 'runs';
  if (builds.includes(undefined)) return 'unknown';
  const runsOlder = host === BUILD_2025 && builds.some((each) => Number(each) >= BUILD_2022 && Number(each) < host);
  return runsOlder ? 'olderBuild' : 'otherBuild';
}

/** An answer as a verb and its object: `is for windows/amd64 10.0.17763.4131 (in its registry: sha256:0123456789ab)`. */
export function describeAnswer(answer: Exclude<ImageAnswer, { kind: 'unknown' }>): string {
  return answer.kind === 'notFound'
    ? `does not exist in ${answer.registry}, or you may not see it`
    : `is for ${contentsOf(answer)}`;
}

const MOST_NAMED = 6;

function contentsOf({ variants, digest }: Extract<ImageAnswer, { kind: 'found' }>): string {
  const names = variants.map(({ os, architecture, osVersion }) => `${os}/${architecture} ${osVersion ?? ''}`.trim());
  const each = [...new Set(names)];
  const more = each.length > MOST_NAMED ? ` and ${each.length - MOST_NAMED} more` : '';
  return `${each.slice(0, MOST_NAMED).join(', ')}${more} (in its registry: ${digest.slice(0, 'sha256:'.length + 12)})`;
}

/** Rules that guess by the name of an image what it is for. */
const GUESSES: readonly string[] = [...IMAGE_RULES, 'LinuxImage', 'WindowsImageUnselected', 'LinuxOnWindows'];

/** The images whose registries know more than the rules: those of pods on Windows, and of pods that the rules take for such by a guess. */
export function imagesToAsk({ os, containers }: PodImages, findings: readonly Finding[]): readonly string[] {
  const isGuessed = findings.some(({ rule }) => GUESSES.includes(rule));
  return os === 'windows' || isGuessed ? containers.map(({ image }) => image) : [];
}

/** The findings, with the answers of registries in place of what the names of images suggest. */
export function withAnswers(findings: readonly Finding[], images: PodImages, answers: ImageAnswers): Finding[] {
  // Another pod with the same image can be the reason for the answer.
  if (imagesToAsk(images, findings).length === 0) return [...findings];
  const found: Finding[] = [];
  const answered = new Set<string>();
  for (const { name, image } of images.containers) {
    const answer = answers.get(image);
    if (!answer || answer.kind === 'unknown') continue;
    const finding = findingOf(name, answer, images);
    if (finding) found.push(finding);
    if (answer.kind === 'notFound' || fitOf(answer.variants, images.build) !== 'unknown') answered.add(name);
  }
  const isOnlyForWindows = found.some(({ rule }) => rule === 'WindowsImageUnselected');
  const guesses = findings.flatMap((finding): Finding[] => {
    if (finding.rule === 'LinuxOnWindows') return isOnlyForWindows ? [] : [finding];
    const rule = GUESSES.includes(finding.rule) && RULES.find(({ name }) => name === finding.rule);
    if (!rule) return [finding];
    const names = finding.names.filter((name) => !answered.has(name));
    return names.length === 0 ? [] : [{ ...finding, names, message: messageOf(rule, names) }];
  });
  return [...found, ...guesses];
}

/** What the answer shows about a container; undefined if nothing is wrong. */
function findingOf(
  container: string,
  answer: Exclude<ImageAnswer, { kind: 'unknown' }>,
  { os, build }: PodImages,
): Finding | undefined {
  const finding = (rule: string, grade: Grade, text: string): Finding => ({
    ...{ rule, grade, names: [container], source: COMPATIBILITY },
    message: `${rule} (${container}): ${answer.image} ${text}`,
  });
  const said = describeAnswer(answer);
  if (answer.kind === 'notFound') return finding('ImageNotFound', 'fails', `${said}. Correct its name.`);
  const fit = fitOf(answer.variants, build);
  if (os === 'linux') {
    const isOnlyForWindows = answer.variants.every((each) => each.os === 'windows');
    const text = `${said}, and the pod selects no operating system. ${REMEDY}.`;
    return isOnlyForWindows ? finding('WindowsImageUnselected', 'advice', text) : undefined;
  }
  switch (fit) {
    case 'notWindows':
      return finding('LinuxImage', 'fails', `${said}, and not for Windows on amd64. Use an image for Windows.`);
    case 'otherBuild':
      return finding(
        'ImageForOtherBuild',
        'fails',
        `${said}, and nodes of build ${build} cannot run it. Use the image or the RuntimeClass of the same version.`,
      );
    case 'olderBuild':
      return finding(
        'ImageForOlderBuild',
        'advice',
        `${said}, and the pod selects nodes of 2025. Use an image for Windows Server 2025 if one exists.`,
      );
    case 'unknown':
      return finding(
        'ImageBuildUnknown',
        'advice',
        `${said}, so nodes of every Windows version pull it. Check that it is for ${build ?? 'Windows'}.`,
      );
    case 'runs':
      return undefined;
  }
}
