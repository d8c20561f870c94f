const BE = '(?:is|are|was|were|be|been|being)';
const PLACES = 'above|after|at the|away|before|behind|below|beside|here|in|into|next|now|on|there|to|under|where';

/**
 * Words that no page of Kubernetes would print, and what to write instead. A word that has a correct use is not listed, or its pattern
 * excludes that use: terms.test.ts has examples of both. Patterns match whole words in any case.
 */
const TERMS: readonly (readonly [pattern: string, instead: string])[] = [
  [`(?<!(?:this|that|which|it) )${BE} so[.,;:]|what ${BE} so (?:in|now|when)`, 'the observed state'],
  ['(?:tell|tells|told|telling) of', 'report, describe'],
  [
    `(?:put|puts|putting|set|sets|setting) (?:(?:it|them|that|this|the [\\w.]+)(?: or the \\w+)? )?right(?! (?:${PLACES}))`,
    'fix, correct',
  ],
  ['mend(?:s|ed|ing)?', 'fix, correct'],
  ['anew', 'again, recreate'],
  ['shall', 'must, or the present tense'],
  [
    '(?<!(?:enough|sufficient|\\w+able|\\w+ful|\\w+less|appear|appears|used|(?:a|each|that) \\w+|label|one|\\)) )by (?:itself|themselves)(?! (?:as|or|is|are|was|were|do|does|did|can|cannot|has|have|will|would)(?!\\w))',
    'automatically',
  ],
  [
    '(?:start|begin|end|stop|pass|resume|recover|restart|retrie|heal|come|goe)s? of (?:itself|themselves)',
    'automatically',
  ],
  [
    '(?<!(?:the|an?|its|their|each|every|this|that|no|front|back|dead|high|low)(?: |-))end(?:s|ed|ing)? (?:(?:the|an?|this|that|its|late|old|bad) (?:node|instance|VM)s?|nodes|instances?|VMs?)',
    'terminate',
  ],
  [`(?:node|instance|VM)s? (?:(?:${BE}|has|have|never|not|to|must|can) ){1,3}ended`, 'terminated'],
  ['(?<!(?:all|human|admin|administrator|user|usage|access|civil) )rights(?! reserved)', 'permissions'],
  [
    '(?<!(?:on|to|at|reserve|reserves) )(?:the|a|that|no|this|any|each) right to (?!left|the |pass|submit)[a-z]+',
    'permission to',
  ],
  [
    '(?:grants?|lacks?|misses|names|missing|without) (?:(?:the|a|that|this|any) )?right(?: (?:that|in)|[.,;:])',
    'permission',
  ],
  ['(?:take|takes|took|taken|taking) (?:[\\w.]+ ){0,2}away(?! the (?:need|burden))', 'remove'],
  [
    '(?:give|gives|gave|given|giving) (?!control|the back)(?:[\\w.]+ ){0,3}back(?! (?:end|ends|off|pressure|up))',
    'restore, release, return',
  ],
  ['somebody(?: else)?|whoever', 'another controller, another user, the cluster administrator'],
  ['which nobody', 'that no controller'],
  ['now and then|after a while|once in a while', 'a time: at 02:31Z, within 10m'],
  ['(?:a|the|no) way out(?! of)', 'workaround, remedy'],
  [`(?:that|which|what|they|it) ${BE} there (?:already|before)`, 'already exists, exists before'],
  [
    'stand(?:s|ing)? (?:in(?! for| the way)|here|there|behind|against|beside|below|under|before|around|twice)',
    'is in, exists',
  ],
  [`${BE} (?:(?:not|never|only|also|first|always) )?looked at`, 'polled, read, checked'],
  ['(?:operator|reconciler|controller|pool|EKS|AWS|gate|rule|check|process) looks at', 'polls, reads, checks'],
  ['(?:each|every|next|first|two|all the) looks?(?! (?:and|at|like|for)(?!\\w))', 'poll, read, reconciliation'],
  ['judge[sd]|(?:the|a|no|by|its|each) verdicts?', 'verify, evaluate; result'],
  ['(?:the|a|its|their|each|every|no) wish(?:es)?|wished(?! to)', 'desired'],
  [
    'what it wants|(?:EKS|EC2|AWS|pool|group|node|spec|operator|cluster|rule|check|budget|remediation|kstatus) wants(?! to)',
    'desired; requires, expects',
  ],
  ['(?:as|was|is) wanted', 'desired'],
  ['dear(?:er)?', 'expensive'],
  ['of your own', 'your own, custom (before the noun)'],
  ['your things', 'the noun: objects, resources'],
  ['expected trouble|in trouble', 'the noun: error'],
  ["(?:pool|group|node|user)['’]s matter", 'belongs to'],
  ['you are woken', 'troubleshooting'],
  ['(?:know|knows|knowing) no', 'has no, does not find'],
  ['thinks? nothing', 'ignores'],
  ['puts? up with', 'tolerates'],
  [`${BE} (?:not )?believed(?! to)`, 'trusted'],
  ['everything away', 'clean up'],
  ["each other's place", 'switch between'],
  [`${BE} born`, 'created'],
  ['for ever', 'forever, indefinitely'],
];

/** A space of a pattern also matches the end of a line, with the start of the next line of a comment. */
const EXPRESSIONS = TERMS.map(([pattern, instead]) => {
  const words = pattern.replaceAll(' ', '[\\s/*#]+');
  return { instead, words: new RegExp(`(?<![\\w./-])(?:${words})(?![\\w-]|\\.\\w)`, 'gi') };
});

/** Each of these words in the text, in the order of TERMS, with its line from 1. Parts of file names are not words. */
export function findTerms(text: string): { line: number; found: string; instead: string }[] {
  return EXPRESSIONS.flatMap(({ words, instead }) =>
    [...text.matchAll(words)].map((match) => {
      const line = text.slice(0, match.index).split('\n').length;
      return { line, found: match[0].replace(/[\s/*#]+/g, ' '), instead };
    }),
  );
}
