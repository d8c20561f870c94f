/** The runs of a property that needs seconds: `make unit` does a fifth of them, and `make coverage`, which is part of `make test-all`, all. */
export function runs(all: number): number {
  return process.env.UNIT_TESTS === 'all' ? all : Math.ceil(all / 5);
}
