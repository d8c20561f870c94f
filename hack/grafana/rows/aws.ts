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
      title: 'Calls',
      asks: 'What does the operator ask AWS for, and how often? A service gets 100 calls at once and 20 a second, SSM 40; fewer while it throttles.',
      unit: 'reqps',
      width: 8,
      queries: [
        {
          expr: `sum by (operation) (${rate(ofOperator('windowspool_aws_requests_total'))})`,
          legend: '{{operation}}',
        },
      ],
    }),
    graph({
      title: 'Calls without success',
      asks: 'Which calls fail, and why? denied: look at the IAM policy. refused, limit: the pool quotes AWS. unavailable: AWS or the way to it.',
      unit: 'reqps',
      width: 8,
      queries: [
        {
          expr: `sum by (operation, result, code) (${rate(failed)}) > 0`,
          legend: '{{operation}} {{result}} {{code}}',
        },
      ],
    }),
    graph({
      title: 'Throttling',
      asks: 'Does AWS slow the operator down? Repeats come before calls fail; others in the account share the limits.',
      alerts: ['WindowsOperatorThrottled'],
      unit: 'reqps',
      width: 8,
      queries: [
        {
          expr: `sum by (operation) (${rate(ofOperator('windowspool_aws_request_retries_total'))})`,
          legend: 'repeats of {{operation}}',
        },
        {
          expr: `sum by (operation) (${rate(ofOperator('windowspool_aws_requests_total', { result: 'throttled' }))})`,
          legend: 'throttled {{operation}}',
        },
      ],
    }),
    graph({
      title: 'Time of calls (99 %)',
      asks: 'Is AWS slow? Repeats of the SDK are included.',
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
      title: 'Wait for a turn (99 %)',
      asks: 'Which calls does the rate limiter hold back? Those of a service that throttles wait longest.',
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
