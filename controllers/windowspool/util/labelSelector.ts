/** Kubernetes label selectors. Pure. */
import type { NodeSelector } from '../api/api.gen.ts';

type Labels = Readonly<Record<string, string>>;
type Requirement = NonNullable<NodeSelector['matchExpressions']>[number];

/**
 * Whether the labels match every term of the selector. As in k8s.io/apimachinery v0.36 pkg/labels, Requirement.Matches, NotIn also matches labels
 * that lack the key.
 */
export function selects({ matchLabels = {}, matchExpressions = [] }: NodeSelector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labelIn(labels, key) === value) &&
    matchExpressions.every((requirement) => holds(requirement, labels))
  );
}

function holds({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = labelIn(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

/** The value of a label; undefined if absent. Ignores inherited properties of JavaScript objects such as `constructor`. */
export function labelIn(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
