/** The package has no types of its own. */
declare module 'textlint-rule-terminology' {
  const rule: import('@textlint/kernel').TextlintKernelRule['rule'];
  export default rule;
}
