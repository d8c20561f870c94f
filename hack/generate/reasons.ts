/** The page about conditions, from the catalogue of reasons. */
import { type Reason, reasons } from '../../controllers/windowspool/reasons.ts';

const CONDITIONS: readonly (readonly [type: string, meaning: string])[] = [
  [
    'Ready',
    'The summary: the RuntimeClass is there, and the pool has at least `scaling.min` verified nodes (at least one).',
  ],
  ['NodeGroupReady', 'The EKS node group exists, is the pool’s own and healthy.'],
  ['RuntimeClassReady', 'The RuntimeClass exists and puts pods on this Windows build.'],
  ['NodesVerified', 'Every node passes every check. One bad node of many turns this False and leaves Ready True.'],
  [
    'PrerequisitesMet',
    'The EKS cluster is the one that the operator runs in, it has what Windows nodes need ([how it is checked](prerequisites.md)), and AWS grants the rights.',
  ],
  [
    'UpToDate',
    'The node group is as the spec says. `Ready` does not depend on it. See [drift](adoption.md#edits-behind-the-operators-back).',
  ],
  [
    'NodesLeaving',
    'Present while nodes have the annotation `winpool.dev/replace` or `winpool.dev/remove`, and until they are gone.',
  ],
  ['Reconciling', 'Present while the operator, EKS or new nodes are at work.'],
  ['Stalled', 'Present while nothing but a human helps.'],
  ['Paused', 'Present while the pool is paused.'],
];

/** The text of docs/conditions.md. */
export function conditionsPage(): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    '<!-- Generated from controllers/windowspool/reasons.ts by `make generate`. Do not edit. -->',
    '# Conditions and reasons',
    '',
    'Read `Ready` first: its reason is the reason of the condition that keeps it False. Each message names the object and the next move.',
    '',
    row(['condition', 'it is True when']),
    row(['---', '---']),
    ...CONDITIONS.map(([type, meaning]) => row([`\`${type}\``, meaning])),
    '',
    '## Reasons',
    '',
    'Conditions and events use these words and no others.',
    '',
    row(['reason', 'what it means and the next move']),
    row(['---', '---']),
    ...(Object.keys(reasons) as Reason[]).sort().map((reason) => row([`\`${reason}\``, reasons[reason]])),
    '',
  ].join('\n');
}
