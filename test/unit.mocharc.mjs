import { globSync } from 'node:fs';

/** The longest first, so that none of the processes is left alone with one at the end. */
const patterns = [
  'hack/simulation/life.test.ts',
  'controllers/windowspool/disruption/*.test.ts',
  '{cmd,controllers,hack}/**/*.test.ts',
];

export default {
  // Mocha runs a file twice that two patterns match, in one process or another.
  spec: [...new Set(patterns.flatMap((pattern) => globSync(pattern).sort()))],
  parallel: true,
  require: ['./test/finishExit.mjs'],
  // As many as the smallest machine has processors.
  jobs: 2,
  // Only a guard against a test that hangs: coverage and a busy machine make the heavy properties slow.
  timeout: 60000,
  forbidOnly: true,
  forbidPending: true,
};
