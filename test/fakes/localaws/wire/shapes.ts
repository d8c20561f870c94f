/** The service models of the local AWS' services, by the operation's name. */
import * as autoscaling from '@aws-sdk/client-auto-scaling';
import * as ec2 from '@aws-sdk/client-ec2';
import * as eks from '@aws-sdk/client-eks';
import * as iam from '@aws-sdk/client-iam';
import * as ssm from '@aws-sdk/client-ssm';
import * as sts from '@aws-sdk/client-sts';
import { type ModelOperation, readOperation, readOperationNames, type SdkExports } from '../../sdkModel/schema.ts';

export type { Member, Shape } from '../../sdkModel/schema.ts';

/** The services of the local AWS, by their names in signatures. */
export type Service = 'eks' | 'ec2' | 'autoscaling' | 'ssm' | 'sts' | 'iam';

/** The package of the SDK with a service's client, below @aws-sdk/. */
export const packageOf = (service: Service): string => `client-${service === 'autoscaling' ? 'auto-scaling' : service}`;

/** An operation of a service. */
export interface Operation extends ModelOperation {
  readonly service: Service;
}

const packages: Readonly<Record<Service, SdkExports>> = {
  eks: { ...eks },
  ec2: { ...ec2 },
  autoscaling: { ...autoscaling },
  ssm: { ...ssm },
  sts: { ...sts },
  iam: { ...iam },
};

/** The exports of the SDK package of the service. */
export const exportsOf = (service: Service): SdkExports => packages[service];

/** The operation with that name; undefined if the service model has none. */
export function operationOf(service: Service, name: string): Operation | undefined {
  const operation = readOperation(packages[service], name);
  return operation && { ...operation, service };
}

/** The names of all operations in the service model. */
export const operationNames = (service: Service): string[] => readOperationNames(packages[service]);
