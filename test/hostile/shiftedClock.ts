/**
 * Loaded into an operator before its program (`node --import`): the wall clock of its machine is wrong. The monotonic clock is right. The clock is wrong
 * by `CLOCK_SHIFT_MS` milliseconds, and by `NEXT_CLOCK_SHIFT_MS` after the signal SIGUSR2, as if it was set.
 */
const RealDate = globalThis.Date;
let shiftMs = Number(process.env.CLOCK_SHIFT_MS);

class ShiftedDate extends RealDate {
  constructor(...given: [] | ConstructorParameters<DateConstructor>) {
    if (given.length === 0) super(ShiftedDate.now());
    else super(...given);
  }

  static override now(): number {
    return RealDate.now() + shiftMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
process.on('SIGUSR2', () => {
  shiftMs = Number(process.env.NEXT_CLOCK_SHIFT_MS);
});
