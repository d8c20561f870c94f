const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['k', 'M', 'G', 'T', 'P', 'E'];

/**
 * The value of a Kubernetes quantity (`2Gi`, `110`, `1500m`) as a finite number; undefined when it is absent or invalid.
 * Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
export function parseQuantity(text: string | undefined): number | undefined {
  const match = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)$/.exec(text ?? '');
  if (!match) return undefined;
  const number = Number(match[1]) * (scaleOf(match[2] ?? '') ?? Number.NaN);
  return Number.isFinite(number) ? number : undefined;
}

function scaleOf(suffix: string): number | undefined {
  if (suffix === '') return 1;
  if (suffix === 'm') return 1e-3;
  if (BINARY.includes(suffix)) return 1024 ** (BINARY.indexOf(suffix) + 1);
  if (DECIMAL.includes(suffix)) return 1000 ** (DECIMAL.indexOf(suffix) + 1);
  return undefined;
}
