import type { EventsV1Event, EventsV1EventSeries } from '@kubernetes/client-node';
import type { EventPublisher, EventRecord, EventSeries, EventSink, Logger, ObjectReference } from '../runtime/ports.ts';
import type { WindowsPool } from '../windowspool/api/api.gen.ts';
import { foreignText } from '../windowspool/ports/foreignText.ts';
import type { Event, Events } from '../windowspool/ports/pools.ts';
import { type KubernetesClient, PATCH } from './client.ts';
import { microTimeOf, type Wire } from './objects.ts';
import { apiPath } from './paths.ts';
import { API_VERSION, KIND } from './pools.ts';

const API = 'events.k8s.io/v1';

/** Writes events.k8s.io/v1 Events, for a Recorder. */
export function createEventSink(client: KubernetesClient): EventSink {
  return {
    create: async (event, signal) => {
      const path = apiPath(API, 'events', { namespace: event.namespace });
      await client.request('POST', path, { body: manifest(event), signal });
    },
    updateSeries: async (event, series, signal) => {
      const path = apiPath(API, 'events', event);
      await client.request('PATCH', path, { body: { series: seriesJson(series) }, contentType: PATCH.merge, signal });
    },
  };
}

/**
 * Publishes the domain's events through a Recorder, and logs each new one with the name of its pool: a line never has other words than its event, and
 * what is no event again is no line again.
 */
export function createPoolEvents(recorder: EventPublisher, log: Logger): Events {
  const publish = (regarding: ObjectReference, { type, reason, action, message }: Event, about: object) => {
    const event = recorder.publish(regarding, { type, reason, action, note: noteOf(message) });
    if (event) log[type === 'Warning' ? 'warn' : 'info']({ ...about, reason, action }, event.note);
  };
  return {
    publish: (pool, event) => publish(referenceTo(pool), event, { pool: pool.metadata.name }),
    publishOnNode: (pool, { name, uid }, event) =>
      publish({ apiVersion: 'v1', kind: 'Node', name, uid }, event, { pool: pool.metadata.name, node: name }),
  };
}

/** Messages quote texts of users, which kubectl would print as they are. */
function noteOf(message: string): string {
  return foreignText(message, message.length);
}

function referenceTo({ metadata: { name, uid } }: WindowsPool): ObjectReference {
  return { apiVersion: API_VERSION, kind: KIND, name, uid };
}

function manifest(event: EventRecord): Wire<EventsV1Event> {
  const { namespace, name, eventTime, series, ...rest } = event;
  return {
    apiVersion: API,
    kind: 'Event',
    metadata: { namespace, name },
    eventTime: microTimeOf(eventTime),
    ...(series && { series: seriesJson(series) }),
    ...rest,
  };
}

function seriesJson({ count, lastObservedTime }: EventSeries): Wire<EventsV1EventSeries> {
  return { count, lastObservedTime: microTimeOf(lastObservedTime) };
}
