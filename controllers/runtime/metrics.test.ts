import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { createEngineMetrics } from './metrics.ts';

describe('the engine metrics', () => {
  it('have the names and labels of Go controllers, which dashboards use', async () => {
    const registry = new Registry();
    const metrics = createEngineMetrics(registry);
    const controller = metrics.controller('windowspool', 4);
    metrics.observeQueue('windowspool', { unfinished: () => [1_500, 500] });
    controller.started?.();
    controller.ended?.('error', 20);
    controller.started?.();
    controller.queue?.added?.();
    controller.queue?.depth?.(3);
    controller.queue?.taken?.(5);
    controller.queue?.finished?.(5);
    controller.queue?.retried?.();
    const reflector = metrics.reflector('nodes');
    reflector.listed?.(10);
    reflector.watchStarted?.();
    reflector.events?.(7);
    reflector.failed?.();
    reflector.unreadable?.({ name: 'a', message: 'no UID' });
    const another = metrics.reflector('nodes');
    reflector.failing?.(true);
    for (const { failed, failing } of [another, another]) {
      failed?.();
      failing?.(true);
      failed?.();
      failing?.(false);
    }
    metrics.leaderElection('operator').leading(true);
    metrics.request('200', 'GET', 'localhost:6443');

    const text = (await registry.metrics())
      .split('\n')
      .filter((line) => !line.startsWith('#') && !line.includes('_bucket'));
    assert.deepEqual(text.filter(Boolean).sort(), [
      'controller_runtime_active_workers{controller="windowspool"} 1',
      'controller_runtime_max_concurrent_reconciles{controller="windowspool"} 4',
      'controller_runtime_reconcile_errors_total{controller="windowspool"} 1',
      'controller_runtime_reconcile_time_seconds_count{controller="windowspool"} 1',
      'controller_runtime_reconcile_time_seconds_sum{controller="windowspool"} 0.02',
      'controller_runtime_reconcile_total{controller="windowspool",result="error"} 1',
      'controller_runtime_reconcile_total{controller="windowspool",result="requeue"} 0',
      'controller_runtime_reconcile_total{controller="windowspool",result="requeue_after"} 0',
      'controller_runtime_reconcile_total{controller="windowspool",result="success"} 0',
      'leader_election_master_status{name="operator"} 1',
      'reflector_events_total{name="nodes"} 7',
      'reflector_failing{name="nodes"} 1',
      'reflector_failures_total{name="nodes"} 5',
      'reflector_items_in_list{name="nodes"} 10',
      'reflector_lists_total{name="nodes"} 1',
      'reflector_unreadable_objects_total{name="nodes"} 1',
      'reflector_watches_total{name="nodes"} 1',
      'rest_client_requests_total{code="200",method="GET",host="localhost:6443"} 1',
      'workqueue_adds_total{name="windowspool"} 1',
      'workqueue_depth{name="windowspool"} 3',
      'workqueue_longest_running_processor_seconds{name="windowspool"} 1.5',
      'workqueue_queue_duration_seconds_count{name="windowspool"} 1',
      'workqueue_queue_duration_seconds_sum{name="windowspool"} 0.005',
      'workqueue_retries_total{name="windowspool"} 1',
      'workqueue_unfinished_work_seconds{name="windowspool"} 2',
      'workqueue_work_duration_seconds_count{name="windowspool"} 1',
      'workqueue_work_duration_seconds_sum{name="windowspool"} 0.005',
    ]);
  });
});
