/** The open questions about EKS that decide what a restarted operator meets. */
import type { Switches } from '../fakes/localaws/switches.ts';

/** Both answers to each of them. */
export const SWITCHES = [
  {
    tokensAfterDelete: 'remembered',
    deleteWhileBusy: 'accept',
    deleteWhileDeleting: 'conflict',
    missingUnderTagCondition: 'notFound',
    updatesWithoutChange: 'accept',
  },
  {
    tokensAfterDelete: 'forgotten',
    deleteWhileBusy: 'conflict',
    deleteWhileDeleting: 'accept',
    missingUnderTagCondition: 'denied',
    updatesWithoutChange: 'reject',
  },
] as const satisfies readonly Partial<Switches>[];
