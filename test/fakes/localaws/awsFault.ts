/** The HTTP status that goes with each error name. Source: the service models inside client-eks and client-ec2 3.1169.0. */
const statusByName: Readonly<Record<string, number>> = {
  InvalidParameterException: 400,
  InvalidRequestException: 400,
  ClientException: 400,
  ResourceLimitExceededException: 400,
  BadRequestException: 400,
  SerializationException: 400,
  AccessDeniedException: 403,
  MissingAuthenticationToken: 403,
  UnrecognizedClientException: 403,
  ExpiredTokenException: 403,
  ResourceNotFoundException: 404,
  NotFoundException: 404,
  UnknownOperationException: 404,
  ResourceInUseException: 409,
  ResourcePropagationDelayException: 428,
  ThrottlingException: 429,
  TooManyRequestsException: 429,
  ServerException: 500,
  NotImplementedException: 501,
  ServiceUnavailableException: 503,
  UnauthorizedOperation: 403,
  DryRunOperation: 412,
  RequestLimitExceeded: 503,
  InternalError: 500,
  Unavailable: 503,
};

/** An error response of AWS: `name` is the code that the SDK shows, `httpStatus` the HTTP status. */
export class AwsFault extends Error {
  readonly httpStatus: number;

  /** The status depends on the name; an unlisted name (all of these are EC2 codes) is a 400. */
  constructor(name: string, message: string, httpStatus = statusByName[name] ?? 400) {
    super(message);
    this.name = name;
    this.httpStatus = httpStatus;
  }
}

/** A value in the request is invalid. */
export const invalidParameter = (message: string): AwsFault => new AwsFault('InvalidParameterException', message);

/** The request contradicts itself or the state of the cluster. */
export const invalidRequest = (message: string): AwsFault => new AwsFault('InvalidRequestException', message);

/** Another operation on the resource is in progress. */
export const inUse = (message: string): AwsFault => new AwsFault('ResourceInUseException', message);

/** The resource does not exist. */
export const notFound = (message: string): AwsFault => new AwsFault('ResourceNotFoundException', message);
