import type { KubeAnswer } from './kubeClient.ts';

/** An answer of the API server that was not the hoped-for one. `again`: it may go better later. `gone`: somebody deleted the Node. */
export class NodeStepError extends Error {
  readonly again: boolean;
  readonly gone: boolean;

  constructor(step: string, { status, body }: KubeAnswer) {
    const message = (body as { message?: string }).message ?? JSON.stringify(body);
    super(`${step}: the API server answers ${status}: ${message}`);
    // 403 as well: the rights of a fresh control plane arrive a moment after its first answers.
    this.again = status >= 500 || [403, 409, 429].includes(status);
    this.gone = status === 404;
  }
}

/** Throws for an answer that is none of success. `step` says what was tried. */
export function expectOk(step: string, answer: KubeAnswer): void {
  if (answer.status >= 300) throw new NodeStepError(step, answer);
}
