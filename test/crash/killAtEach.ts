/** Plays something once for each of its requests, with the operator killed at that one. */

/** What is played, on stages that play beside each other. */
export interface Play<Stage> {
  readonly stages: readonly Stage[];
  /** The requests of a rehearsal by name, such as `PATCH nodes #2`. */
  readonly requests: readonly string[];
  /**
   * Whether chance says how often such a request comes: how often a node is written depends on which of its events come together. Of these
   * only the first must come. A later one that did not come was the rehearsal's own, and so were those of its kind with a higher number.
   */
  readonly isRepeated: (request: string) => boolean;
  /** Plays it on a stage with the operator killed at a request. Says whether that request came, and rejects when the play went wrong. */
  readonly enact: (stage: Stage, request: string) => Promise<boolean>;
}

/** Rejects with the first play that went wrong, and with the requests that had to come and did not. Gives those that were killed. */
export async function killAtEach<Stage>(play: Play<Stage>): Promise<readonly string[]> {
  let queue = [...play.requests];
  const killed: string[] = [];
  const missing: string[] = [];
  const perform = async (stage: Stage): Promise<void> => {
    for (let request = queue.shift(); request; request = queue.shift()) {
      const { kind, number } = parse(request);
      if (await play.enact(stage, request)) killed.push(request);
      else if (number === 1 || !play.isRepeated(request)) missing.push(request);
      else queue = queue.filter((other) => parse(other).kind !== kind || parse(other).number < number);
    }
  };
  const stopOthers = (error: unknown) => {
    queue = [];
    throw error;
  };
  const played = await Promise.allSettled(play.stages.map((stage) => perform(stage).catch(stopOthers)));
  const wrong = played.find(({ status }) => status === 'rejected');
  if (wrong?.status === 'rejected') throw wrong.reason;
  if (missing.length > 0) throw new Error(`${missing.join(', ')} did not come`);
  return killed;
}

function parse(request: string): { readonly kind: string; readonly number: number } {
  const [kind = '', number] = request.split(' #');
  return { kind, number: Number(number) };
}

/** Runs something for each item, on stages that work beside each other, and gives the results in the order of the items. */
export async function shareOut<Stage, Item, Result>(
  stages: readonly Stage[],
  items: readonly Item[],
  run: (stage: Stage, item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const queue = [...items.entries()];
  const results: Result[] = [];
  const work = async (stage: Stage): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await run(stage, next[1]);
  };
  await Promise.all(stages.map(work));
  return results;
}
