/** Calls `work` for 0 to `count` - 1, with limited concurrency. The first failure stops it. */
export async function forEachOf(count: number, workers: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  let failed = false;
  const run = async (): Promise<void> => {
    while (next < count && !failed) {
      const index = next++;
      try {
        await work(index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, count) }, run));
}
