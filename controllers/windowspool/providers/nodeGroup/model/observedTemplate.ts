import type { OwnTemplate } from '../../../ports/ownTemplates.ts';

/**
 * The launch template with the name of the pool's own. `absent`: EC2 says that it does not exist. `isNew`: this run has just written it, so another read
 * is due.
 */
export type ObservedTemplate =
  | { readonly kind: 'absent' }
  | { readonly kind: 'seen'; readonly template: OwnTemplate; readonly isNew?: true };
