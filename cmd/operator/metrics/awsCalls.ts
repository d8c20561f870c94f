/** Metrics of the calls to AWS. */
import type { Registry } from 'prom-client';
import type { CallObserver, Service } from '../../../controllers/aws/calls.ts';
import { Instruments, type MetricCatalogue } from '../../../controllers/runtime/metricDefinition.ts';
import { CALL_ERROR_KINDS } from '../../../controllers/windowspool/ports/callResult.ts';

const CALL = {
  service: { values: ['eks', 'ec2', 'ssm', 'autoscaling', 'iam'] as const satisfies readonly Service[] },
  operation: { bounds: 'the actions of config/aws/iam-policy.json' },
};

/** How many error codes of AWS become label values: the set is open, and each code is a series for every operation. */
const CODES = 50;

/** The metrics of calls to AWS. */
export const awsMetrics = {
  windowspool_aws_requests_total: {
    type: 'counter',
    help: 'Calls to AWS by result, and by the name of the error (OK where there was none). Where AWS throttled or failed, the SDK had tried three times.',
    labels: {
      ...CALL,
      result: { values: ['ok', ...CALL_ERROR_KINDS] },
      code: { bounds: `at most ${CODES} names of errors, and other` },
    },
  },
  windowspool_aws_request_duration_seconds: {
    type: 'histogram',
    help: 'How long calls to AWS took, the repeats of the SDK included, without the wait for a turn.',
    labels: CALL,
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30, 60],
  },
  windowspool_aws_request_retries_total: {
    type: 'counter',
    help: 'Repeats of calls by the SDK, because AWS throttled or failed: they show throttling before calls fail by it.',
    labels: CALL,
  },
  windowspool_aws_request_wait_seconds: {
    type: 'histogram',
    help: "How long calls waited for the operator's rate limiter: the token bucket of their service, which a throttled call slows down, and at most 10 calls of a service at a time.",
    labels: CALL,
    buckets: [0.001, 0.01, 0.1, 0.5, 1, 5, 15, 60],
  },
} as const satisfies MetricCatalogue;

/** Counts and times the calls to AWS. */
export function observeAwsCalls(registry: Registry): CallObserver {
  const make = new Instruments(registry, awsMetrics);
  const calls = make.counter('windowspool_aws_requests_total');
  const seconds = make.histogram('windowspool_aws_request_duration_seconds');
  const retries = make.counter('windowspool_aws_request_retries_total');
  const waits = make.histogram('windowspool_aws_request_wait_seconds');
  const codes = new Set<string>();
  return ({ service, operation, result, code, tookSeconds, waitedSeconds, attempts }) => {
    if (codes.size < CODES) codes.add(code);
    calls.inc({ service, operation, result, code: codes.has(code) ? code : 'other' });
    seconds.observe({ service, operation }, tookSeconds);
    waits.observe({ service, operation }, waitedSeconds);
    retries.inc({ service, operation }, Math.max(0, attempts - 1));
  };
}
