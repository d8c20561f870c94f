/** Calls to AWS. By operation alone: Prometheus' service discovery has a label `service` of its own. */
import { ofOperator, quantile, rate } from '../expressions.ts';
import { graph, type PanelBuilder } from '../panels.ts';

/** Of the operator. */
export function aws(): PanelBuilder[] {
  const failed = ofOperator('windowspool_aws_requests_total', {
    result: ['throttled', 'unavailable', 'busy', 'denied', 'refused', 'limit', 'conflict', 'gone', 'unknown'],
  });
  return [
    graph({
      title: 'AWS calls',
      asks: 'Which AWS operations does the operator call, and how often? The rate limiter allows each AWS service a burst of 100 calls and 20 calls per second (SSM: 40), and fewer while AWS throttles.',
      unit: 'reqps',
      queries: [
        {
          expr: `sum by (operation) (${rate(ofOperator('windowspool_aws_requests_total'))})`,
          legend: '{{operation}}',
        },
      ],
    }),
    graph({
      title: 'Failed AWS calls',
      asks: 'Which calls fail, and why? denied: check the IAM policy. refused, limit: the conditions of the pool quote AWS. unavailable: check AWS and the network.',
      unit: 'reqps',
      queries: [
        {
          expr: `sum by (operation, result, code) (${rate(failed)}) > 0`,
          legend: '{{operation}} {{result}} {{code}}',
        },
      ],
    }),
    graph({
      title: 'Throttling',
      asks: 'Does AWS throttle the operator? The SDK retries a throttled call before the call fails. All clients of the AWS account share the limits.',
      alerts: ['WindowsPoolOperatorThrottled'],
      unit: 'reqps',
      queries: [
        {
          expr: `sum by (operation) (${rate(ofOperator('windowspool_aws_request_retries_total'))})`,
          legend: 'retries of {{operation}}',
        },
        {
          expr: `sum by (operation) (${rate(ofOperator('windowspool_aws_requests_total', { result: 'throttled' }))})`,
          legend: 'throttled {{operation}}',
        },
      ],
    }),
    graph({
      title: 'Duration of AWS calls (p99)',
      asks: 'Is AWS slow? Includes the retries of the SDK.',
      unit: 's',
      width: 12,
      queries: [
        {
          expr: quantile(0.99, 'windowspool_aws_request_duration_seconds', ['operation']),
          legend: '{{operation}}',
        },
      ],
    }),
    graph({
      title: 'Wait for the rate limiter (p99)',
      asks: 'Which calls does the rate limiter of the operator delay? Calls to a service that throttles wait longest.',
      unit: 's',
      width: 12,
      queries: [
        {
          expr: quantile(0.99, 'windowspool_aws_request_wait_seconds', ['operation']),
          legend: '{{operation}}',
        },
      ],
    }),
  ];
}
