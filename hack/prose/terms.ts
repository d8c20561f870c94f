/**
 * Words that no page of Kubernetes would print, and what to write instead. `why` says why correct technical English does not match: a
 * word that has a correct use is not listed, or its pattern excludes that use.
 *
 * A pattern matches whole words in any case, and its spaces also match the end of a line. textlint-rule-terminology applies it a second
 * time to the match alone, so a pattern can say what must not be next to the match (`(?<!`, `(?!`), and not what must be.
 */
export interface Term {
  readonly pattern: string;
  readonly suggestion: string;
  readonly why: string;
}

const BE = '(?:is|are|was|were|be|been|being)';
const PLACES = 'above|after|at the|away|before|behind|below|beside|here|in|into|next|now|on|there|to|under|where';

export const TERMS: readonly Term[] = [
  {
    pattern: `(?<!(?:this|that|which|it) )${BE} so[.,;:]|what ${BE} so (?:in|now|when)`,
    suggestion: 'the observed state',
    why: '"It is so new that" continues with an adjective; "that is so" is excluded.',
  },
  {
    pattern: '(?:tell|tells|told|telling) of',
    suggestion: 'report, describe',
    why: 'You tell someone about something.',
  },
  {
    pattern: `(?:put|puts|putting|set|sets|setting) (?:(?:it|them|that|this) )?right(?! (?:${PLACES}))`,
    suggestion: 'fix, correct',
    why: '"Put right after the call" is a place or a time, and excluded.',
  },
  {
    pattern: `(?:put|puts|putting) (?:the )?[\\w.]+(?: or the \\w+)? right(?! (?:${PLACES}))`,
    suggestion: 'fix, correct',
    why: 'As above. "Put it on the right node" has a preposition before "right".',
  },
  { pattern: 'mend(?:s|ed|ing)?', suggestion: 'fix, correct', why: 'Software is fixed, never mended.' },
  { pattern: 'anew', suggestion: 'again, recreate', why: 'Literary in every use.' },
  {
    pattern: 'shall',
    suggestion: 'must, or the present tense',
    why: 'Only a quotation of a standard has it; that is what prose-allow is for.',
  },
  {
    pattern:
      '(?<!(?:enough|sufficient|\\w+able|\\w+ful|\\w+less|appear|appears|used|(?:a|each|that) \\w+|label|one|\\)) )by (?:itself|themselves)(?! (?:as|or|is|are|was|were|do|does|did|can|cannot|has|have|will|would)(?!\\w))',
    suggestion: 'automatically',
    why: 'Where it means alone, as in "a label by itself does not", an excluded word is beside it.',
  },
  {
    pattern: '(?:start|begin|end|stop|pass|resume|recover|restart|retrie|heal|come|goe)s? of (?:itself|themselves)',
    suggestion: 'automatically',
    why: 'Only after a verb: "a copy of itself" does not match.',
  },
  {
    pattern:
      '(?<!(?:the|an?|its|their|each|every|this|that|no|front|back|dead|high|low)(?: |-))end(?:s|ed|ing)? (?:(?:the|an?|this|that|its|late|old|bad) (?:node|instance|VM)s?|nodes|instances?|VMs?)',
    suggestion: 'terminate',
    why: 'The noun, as in "in the end nodes" and "front-end nodes", has an excluded word before it or is "end node".',
  },
  {
    pattern: `(?:node|instance|VM)s? (?:(?:${BE}|has|have|never|not|to|must|can) ){1,3}ended`,
    suggestion: 'terminated',
    why: 'Processes and updates end; EC2 instances and nodes are terminated.',
  },
  {
    pattern: '(?<!(?:all|human|admin|administrator|user|usage|access|civil) )rights(?! reserved)',
    suggestion: 'permissions',
    why: 'The user rights and administrator rights of Windows are excluded.',
  },
  {
    pattern:
      '(?<!(?:on|to|at|reserve|reserves) )(?:the|a|that|no|this|any|each) right to (?!left|the |pass|submit)[a-z]+',
    suggestion: 'permission to',
    why: 'Directions ("right to left", "on the right to open") and the right to submit code are excluded.',
  },
  {
    pattern:
      '(?:grants?|lacks?|misses|names|missing|without) (?:(?:the|a|that|this|any) )?right(?: (?:that|in)|[.,;:])',
    suggestion: 'permission',
    why: 'The adjective has a noun after it.',
  },
  {
    pattern: '(?:take|takes|took|taken|taking) (?:[\\w.]+ ){0,2}away(?! the (?:need|burden))',
    suggestion: 'remove',
    why: 'To take away a need is excluded.',
  },
  {
    pattern:
      '(?:give|gives|gave|given|giving) (?!control|the back)(?:[\\w.]+ ){0,3}back(?! (?:end|ends|off|pressure|up))',
    suggestion: 'restore, release, return',
    why: 'To give control back, and the nouns with "back", are excluded.',
  },
  {
    pattern: 'somebody(?: else)?|whoever',
    suggestion: 'another controller, another user, the cluster administrator',
    why: 'Reference text names the person, the role or the program. "Someone" is not listed.',
  },
  { pattern: 'which nobody', suggestion: 'that no controller', why: 'The user "nobody" has no pronoun before it.' },
  {
    pattern: 'now and then|after a while|once in a while',
    suggestion: 'a time: at 02:31Z, within 10m',
    why: 'A reader who waits needs to know how long. "For a while" is not listed.',
  },
  {
    pattern: '(?:a|the|no) way out(?! of)',
    suggestion: 'workaround, remedy',
    why: '"The way out of the network" is a route, and excluded.',
  },
  {
    pattern: `(?:that|which|what|they|it) ${BE} there (?:already|before)`,
    suggestion: 'already exists, exists before',
    why: 'The question "is there already a pool" has no pronoun before the verb.',
  },
  {
    pattern: 'stand(?:s|ing)? (?:in(?! for| the way)|here|there|behind|against|beside|below|under|before|around|twice)',
    suggestion: 'is in, exists',
    why: 'Text and fields do not stand anywhere. To stand for, by, and in for something are not listed.',
  },
  {
    pattern: `${BE} (?:(?:not|never|only|also|first|always) )?looked at`,
    suggestion: 'polled, read, checked',
    why: 'Only the passive: "look at the log" is an instruction to a person.',
  },
  {
    pattern: '(?:operator|reconciler|controller|pool|EKS|AWS|gate|rule|check|process) looks at',
    suggestion: 'polls, reads, checks',
    why: 'Only with software as the subject.',
  },
  {
    pattern: '(?:each|every|next|first|two|all the) looks?(?! (?:and|at|like|for)(?!\\w))',
    suggestion: 'poll, read, reconciliation',
    why: 'The noun: the verb has a preposition after it, and "look and feel" is excluded.',
  },
  {
    pattern: 'judge[sd]?|verdicts?',
    suggestion: 'verify, evaluate; result',
    why: '"Judging by" does not match.',
  },
  {
    pattern: '(?:the|a|its|their|each|every|no) wish(?:es)?|wished(?! to)',
    suggestion: 'desired',
    why: 'The noun: "if you wish to" does not match.',
  },
  {
    pattern:
      'what it wants|(?:EKS|EC2|AWS|pool|group|node|spec|operator|cluster|rule|check|budget|remediation|kstatus) wants(?! to)',
    suggestion: 'desired; requires, expects',
    why: 'Only with software as the subject: "the user wants" does not match.',
  },
  { pattern: '(?:as|was|is) wanted', suggestion: 'desired', why: 'A number or a state is desired.' },
  { pattern: 'dear(?:er)?', suggestion: 'expensive', why: 'Only letters begin with it.' },
  {
    pattern: 'of your own',
    suggestion: 'your own, custom (before the noun)',
    why: 'Reference text has the noun last: a custom policy, your own policy. "Of its own" is not listed.',
  },
  { pattern: 'your things', suggestion: 'the noun: objects, resources', why: '"The right thing" does not match.' },
  { pattern: 'expected trouble|in trouble', suggestion: 'the noun: error', why: '"Troubleshooting" is another word.' },
  {
    pattern: "(?:pool|group|node|user)['’]s matter",
    suggestion: 'belongs to',
    why: '"It does not matter" and "a matter of minutes" do not match.',
  },
  { pattern: 'you are woken', suggestion: 'troubleshooting', why: 'Threads and watchers are woken, not readers.' },
  { pattern: '(?:know|knows|knowing) no', suggestion: 'has no, does not find', why: 'Written "does not know any".' },
  { pattern: 'thinks? nothing', suggestion: 'ignores', why: 'Software does not think.' },
  { pattern: 'puts? up with', suggestion: 'tolerates', why: 'The term of Kubernetes is toleration.' },
  { pattern: `${BE} (?:not )?believed(?! to)`, suggestion: 'trusted', why: '"Is believed to be" is excluded.' },
  { pattern: 'everything away', suggestion: 'clean up', why: 'Part of no idiom of technical text.' },
  { pattern: "each other's place", suggestion: 'switch between', why: 'Part of no idiom of technical text.' },
  { pattern: `${BE} born`, suggestion: 'created', why: 'Nodes and pods are created.' },
  { pattern: 'for ever', suggestion: 'forever, indefinitely', why: 'One word in current spelling.' },
];
