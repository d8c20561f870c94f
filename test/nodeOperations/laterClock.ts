/** Preloaded into an operator, makes it that of ten minutes later, for what takes minutes: its clock is ahead of all others. */
const { now } = Date;
Date.now = () => now() + 600_000;
