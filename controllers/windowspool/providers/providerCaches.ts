/** The caches of the providers, for those who connect them to the watches. */

export { NodeMembership } from './existing/nodeMembership.ts';
