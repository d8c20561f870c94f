/** Metrics of the calls to AWS. */
import type { Registry } from 'prom-client';
import type { CallObserver, Service } from '../../../controllers/aws/calls.ts';
import {
  counter,
  histogram,
  Instruments,
  type MetricCatalogue,
} from '../../../controllers/runtime/metricDefinition.ts';
import { CALL_ERROR_KINDS } from '../../../controllers/windowspool/ports/callResult.ts';

const CALL = {
  service: { values: ['eks', 'ec2', 'ssm', 'autoscaling', 'iam'] as const satisfies readonly Service[] },
  operation: { bounds: 'the actions of config/aws/iam-policy.json' },
};

/** How many AWS error codes become label values: AWS can add codes, and each code is a series per operation. */
const CODES = 50;

/** The metrics of calls to AWS. */
export const awsMetrics = {
  windowspool_aws_requests_total: counter(
    'Calls to AWS by result and error name (OK for a success). The SDK retries throttled and unavailable calls: a call counts once, however many of at most three attempts it took.',
    {
      ...CALL,
      result: { values: ['ok', ...CALL_ERROR_KINDS] },
      code: { bounds: `at most ${CODES} error names, and other` },
    },
  ),
  windowspool_aws_request_duration_seconds: histogram(
    'Duration of calls to AWS, including retries of the SDK and excluding the wait for the rate limiter.',
    CALL,
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30, 60],
  ),
  windowspool_aws_request_retries_total: counter(
    'Retries by the SDK of throttled or unavailable calls. They show throttling before calls fail.',
    CALL,
  ),
  windowspool_aws_request_wait_seconds: histogram(
    "Time that calls waited for the operator's rate limiter: the token bucket of their service, which slows down after a throttled call, and at most 10 concurrent calls per service.",
    CALL,
    [0.001, 0.01, 0.1, 0.5, 1, 5, 15, 60],
  ),
} as const satisfies MetricCatalogue;

/** Records the number and duration of calls to AWS. */
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
