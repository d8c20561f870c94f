/** The protocol of each service of the local AWS: its format, and its messages for common errors. */
import { AwsFault } from '../awsFault.ts';
import * as eksWire from './eksWire.ts';
import * as queryWire from './queryWire.ts';
import type { Operation, Service } from './shapes.ts';

/** The subject of a request in errors. */
export interface Subject {
  readonly clusterName?: unknown;
  readonly nodegroupName?: unknown;
}

interface Protocol {
  readonly contentType: string;
  readonly body: (operation: Operation, output: object, requestId: string) => string;
  readonly errorBody: (fault: AwsFault, requestId: string, subject: Subject) => string;
  readonly throttled: () => AwsFault;
  readonly failed: () => AwsFault;
  readonly unavailable: () => AwsFault;
  readonly noOperation: string;
  readonly missing: (path: string) => AwsFault;
}

const failed = 'Internal server error';
const unavailable = 'Service is unavailable';
const nullMember = (name: string) => (path: string) =>
  new AwsFault(name, `Value null at '${path}' failed to satisfy constraint: Member must not be null`);

const query = (service: queryWire.QueryService) => ({
  contentType: 'text/xml;charset=UTF-8',
  body: queryWire.bodyFor,
  errorBody: (fault: AwsFault, requestId: string) => queryWire.errorBodyFor(service, fault, requestId),
  noOperation: 'InvalidAction',
});

/** One protocol for each service. */
export const protocols: Readonly<Record<Service, Protocol>> = {
  eks: {
    contentType: 'application/json',
    body: (_operation, output) => eksWire.bodyFor(output),
    errorBody: ({ message }, _requestId, { clusterName, nodegroupName }) =>
      JSON.stringify({ message, clusterName, nodegroupName }),
    throttled: () => new AwsFault('ThrottlingException', 'Rate exceeded'),
    failed: () => new AwsFault('ServerException', failed),
    unavailable: () => new AwsFault('ServiceUnavailableException', unavailable),
    noOperation: 'UnknownOperationException',
    missing: nullMember('InvalidParameterException'),
  },
  ec2: {
    ...query('ec2'),
    throttled: () => new AwsFault('RequestLimitExceeded', 'Request limit exceeded.'),
    failed: () => new AwsFault('InternalError', failed),
    unavailable: () => new AwsFault('Unavailable', unavailable),
    missing: (path) => new AwsFault('MissingParameter', `The request must contain the parameter ${path}`),
  },
  autoscaling: {
    ...query('autoscaling'),
    throttled: () => new AwsFault('Throttling', 'Rate exceeded'),
    failed: () => new AwsFault('InternalFailure', failed, 500),
    unavailable: () => new AwsFault('ServiceUnavailable', unavailable, 503),
    missing: nullMember('ValidationError'),
  },
  sts: {
    ...query('sts'),
    throttled: () => new AwsFault('Throttling', 'Rate exceeded'),
    failed: () => new AwsFault('InternalFailure', failed, 500),
    unavailable: () => new AwsFault('ServiceUnavailable', unavailable, 503),
    missing: nullMember('ValidationError'),
  },
  iam: {
    ...query('iam'),
    throttled: () => new AwsFault('Throttling', 'Rate exceeded', 400),
    failed: () => new AwsFault('ServiceFailure', failed, 500),
    unavailable: () => new AwsFault('ServiceUnavailable', unavailable, 503),
    missing: nullMember('ValidationError'),
  },
  ssm: {
    contentType: 'application/x-amz-json-1.1',
    body: (_operation, output) => eksWire.bodyFor(output),
    errorBody: ({ name, message }) => JSON.stringify({ __type: name, message }),
    throttled: () => new AwsFault('ThrottlingException', 'Rate exceeded', 400),
    failed: () => new AwsFault('InternalServerError', failed, 500),
    unavailable: () => new AwsFault('ServiceUnavailable', unavailable, 503),
    noOperation: 'UnknownOperationException',
    missing: nullMember('ValidationException'),
  },
};
