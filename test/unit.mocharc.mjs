import { globSync } from 'node:fs';

/** Test tools: their tests run when a tool changes (`make tool-test`). */
const TOOLS =
  '{hack/{controlplane,gitops,gobuild,prose,suites,tools},test/fakes/{localaws,sdkModel,testenv}}/**/*.test.ts';
/** What a tool says about the product: the IAM policies that the operator ships, and which suites exist. */
const PRODUCT = ['test/fakes/localaws/iam/shippedPolicy.test.ts', 'hack/suites/promises.test.ts'];

/** The longest first, so that none of the processes is left alone with one at the end. */
const FIRST = [
  'test/fakes/simulation/replicas.test.ts',
  'test/fakes/simulation/life.test.ts',
  'controllers/windowspool/*.test.ts',
];

const all = [
  ...new Set([...FIRST, '{cmd,controllers,hack,test/fakes}/**/*.test.ts'].flatMap((glob) => globSync(glob).sort())),
];
const tools = new Set(globSync(TOOLS, { exclude: PRODUCT }));

/** Which unit tests run: by default those of the product. */
const chosen = {
  all,
  product: all.filter((file) => !tools.has(file)),
  tools: [...tools].sort(),
}[process.env.UNIT_TESTS ?? 'product'];
if (!chosen) throw new Error(`UNIT_TESTS=${process.env.UNIT_TESTS}: must be all, product or tools.`);

export default {
  // Mocha runs a file twice that two patterns match, in one process or another.
  spec: chosen,
  parallel: true,
  require: ['./test/finishExit.mjs'],
  // As many as the smallest machine has processors.
  jobs: 2,
  // Only a guard against a test that hangs: coverage and a busy machine make the heavy properties slow.
  timeout: 60000,
  forbidOnly: true,
  forbidPending: true,
};
