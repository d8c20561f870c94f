/** Advice: what would make a pool that works more robust. It blocks nothing, and is in no condition and no event. */
import type { AdviceReason } from '../../../api/reasons.ts';
import type { AdviceFacts, CheckInput } from './prerequisiteFacts.ts';

/** The result of an advice check. The message has the cause and the remedy, without a full stop. */
export type AdviceResult = { readonly kind: 'none' } | { readonly kind: 'advice'; readonly message: string };

/** An advice check. */
export interface AdviceCheck {
  readonly reason: AdviceReason;
  /** The heading in docs/advice.md, as an anchor. */
  readonly section: string;
  /** The facts that it looks at, beside those that are always read. */
  readonly needs: readonly (keyof AdviceFacts)[];
  /** Whether a pool may need it from now on: its facts are then read also while the node group looks healthy. */
  readonly concerns?: (spec: CheckInput['spec']) => boolean;
  /** Pure. Undefined when the facts that it needs were not read, so that the last result stays. */
  readonly look: (input: CheckInput) => AdviceResult | undefined;
}
