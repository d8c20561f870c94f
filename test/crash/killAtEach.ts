/** A scenario that fixtures run in parallel, once for each of its requests, with the operator killed at that request. */
export interface Scenario<Fixture> {
  readonly fixtures: readonly Fixture[];
  /** The requests of a recording without kills, by name, such as `PATCH nodes #2`. */
  readonly requests: readonly string[];
  /**
   * Whether the number of such requests differs from run to run: how often a node is written depends on which of its events arrive together. Only
   * the first of them must be sent. If a later one is not sent, those of its kind with a higher number are skipped.
   */
  readonly isRepeated: (request: string) => boolean;
  /** Runs the scenario with the operator killed at a request. Resolves to whether that request was sent; rejects when the scenario fails. */
  readonly run: (fixture: Fixture, request: string) => Promise<boolean>;
}

/** Returns the requests at which the operator was killed. Rejects with the first failure, or with the requests that were not sent. */
export async function killAtEach<Fixture>(scenario: Scenario<Fixture>): Promise<readonly string[]> {
  let queue = [...scenario.requests];
  const killed: string[] = [];
  const missing: string[] = [];
  const perform = async (fixture: Fixture): Promise<void> => {
    for (let request = queue.shift(); request; request = queue.shift()) {
      const { kind, number } = parse(request);
      if (await scenario.run(fixture, request)) killed.push(request);
      else if (number === 1 || !scenario.isRepeated(request)) missing.push(request);
      else queue = queue.filter((other) => parse(other).kind !== kind || parse(other).number < number);
    }
  };
  const stopOthers = (error: unknown) => {
    queue = [];
    throw error;
  };
  const played = await Promise.allSettled(scenario.fixtures.map((fixture) => perform(fixture).catch(stopOthers)));
  const wrong = played.find(({ status }) => status === 'rejected');
  if (wrong?.status === 'rejected') throw wrong.reason;
  if (missing.length > 0) throw new Error(`${missing.join(', ')} did not come`);
  return killed;
}

function parse(request: string): { readonly kind: string; readonly number: number } {
  const [kind = '', number] = request.split(' #');
  return { kind, number: Number(number) };
}

/** Runs something for each item, on fixtures in parallel, and returns the results in the order of the items. */
export async function shareAmong<Fixture, Item, Result>(
  fixtures: readonly Fixture[],
  items: readonly Item[],
  run: (fixture: Fixture, item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const queue = [...items.entries()];
  const results: Result[] = [];
  const work = async (fixture: Fixture): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await run(fixture, next[1]);
  };
  await Promise.all(fixtures.map(work));
  return results;
}
