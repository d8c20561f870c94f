/** The operator as it is ten minutes later, for what takes minutes: its clock is ahead of all others. */
const { now } = Date;
Date.now = () => now() + 600_000;
await import('../../cmd/operator/main.ts');
