/** Text from outside: kubelets, AWS, load balancers, other controllers. This is the only place that cuts and cleans it. */

/** Longer than every valid name, version, address and reason. */
const TEXT_LENGTH = 256;
/** Of error messages, which quote ARNs. EKS's longest messages have some 600 characters. */
const MESSAGE_LENGTH = 1_024;

/** Control characters, and characters that are invisible or change the direction of the text around them. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const LINE_BREAK = /[\t\n\v\f\r\u0085\u2028\u2029]/;
const EACH_UNPRINTABLE = new RegExp(UNPRINTABLE, 'gu');

/**
 * The text, safe to show and to match: at most `length` characters, the last one an ellipsis if it was longer; line breaks and tabs become spaces,
 * other control characters U+FFFD. Takes the same time for every longer text.
 */
export function foreignText(text: string, length: number = TEXT_LENGTH): string {
  const short = text.length > length ? `${text.slice(0, length - 1).toWellFormed()}…` : text;
  return UNPRINTABLE.test(short)
    ? short.replace(EACH_UNPRINTABLE, (found) => (LINE_BREAK.test(found) ? ' ' : '\uFFFD'))
    : short;
}

/** The same for the message of an error. */
export function foreignMessage(text: string): string {
  return foreignText(text, MESSAGE_LENGTH);
}
