/**
 * Classifies AWS errors by name: the HTTP status alone is not enough, and the SDK marks no EKS error as retryable.
 * Sources: the error lists of https://docs.aws.amazon.com/eks/latest/APIReference/ and https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html and the models of the services.
 */
import { type CallError, type CallErrorKind, type Denial, scrub } from '../windowspool/ports/callResult.ts';
import { foreignText } from '../windowspool/ports/foreignText.ts';

/** The names of errors by kind, separated by spaces. A name has one kind. */
export const ERROR_NAMES: Readonly<Partial<Record<CallErrorKind, string>>> = {
  throttled: 'ThrottlingException Throttling TooManyRequestsException RequestLimitExceeded',
  busy:
    'ScalingActivityInProgress ScalingActivityInProgressFault ResourceContention ResourceContentionFault ' +
    'ResourceInUseException ResourcePropagationDelayException InvalidLaunchTemplateName.AlreadyExistsException',
  unavailable:
    'ServerException ServiceUnavailableException ServiceUnavailable InternalError TimeoutError AbortError ' +
    'IDPCommunicationError MalformedResponse',
  denied:
    'AccessDeniedException AccessDenied UnauthorizedOperation AuthFailure UnrecognizedClientException ' +
    'MissingAuthenticationTokenException MissingAuthenticationToken InvalidIdentityToken ' +
    'ExpiredTokenException InvalidSignatureException CredentialsProviderError',
  refused:
    'InvalidParameterException InvalidRequestException BadRequestException ValidationError InvalidParameterValue ' +
    'InvalidLaunchTemplateName.MalformedException IdempotentParameterMismatch',
  limit: 'ResourceLimitExceededException LimitExceeded LimitExceededFault',
  gone:
    'ResourceNotFoundException NotFoundException NoSuchEntityException ParameterNotFound InvalidAMIID.NotFound ' +
    'InvalidLaunchTemplateId.NotFound InvalidLaunchTemplateId.Malformed ' +
    'InvalidLaunchTemplateId.VersionNotFound InvalidLaunchTemplateName.NotFoundException',
};

const KINDS: ReadonlyMap<string, CallErrorKind> = new Map(
  (Object.keys(ERROR_NAMES) as CallErrorKind[]).flatMap((kind) =>
    (ERROR_NAMES[kind] ?? '').split(' ').map((name) => [name, kind]),
  ),
);

/** The names by which EKS rejects invalid requests. It also uses them for missing permissions of the caller. */
const BAD_REQUESTS: ReadonlySet<string> = new Set(['InvalidRequestException', 'InvalidParameterException']);

/**
 * Messages by which EKS reports a missing permission. Seen in InvalidRequestException: terraform-aws-eks#823 (iam:GetRole), XenitAB/terraform-modules#396
 * (iam:CreateServiceLinkedRole), aws-samples/terraform-eks-code#13 and scylla-cluster-tests#12172 (the launch template). In AccessDeniedException:
 * aws-controllers-k8s/community#2164. An action in the message takes precedence over the one here.
 */
const MISSING_PERMISSIONS: readonly { readonly words: RegExp; readonly action?: string }[] = [
  { words: /\byou are not authorized to launch instances with this launch template\b/i, action: 'ec2:RunInstances' },
  { words: /\bmissing permissions for\b/i },
  { words: /\bnot authorized to perform\b/i },
];

/** Not a permission: the image is private, as Windows AMIs are four months after their release. */
const PRIVATE_IMAGE = /\bnot authorized for images\b/i;

/**
 * EKS does not offer an AMI release yet: the SSM parameter of the newest AMI and EKS do not change at the same time. Seen: eksctl-io/eksctl#7976
 * ("is not valid for kubernetes version"), awslabs/amazon-eks-ami#559 ("is invalid. Allowed release version is ...").
 */
const RELEASE_NOT_OFFERED = /\brelease version \S+ is (?:not valid for kubernetes version|invalid\b)/i;

/** The IAM action in a message: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_action.html */
const NAMED_ACTION = /\b(?:not authorized to perform:?|missing permissions for) '?([a-z0-9-]{2,32}:[A-Za-z]{3,64})\b/;

/**
 * What IAM says of a denied call: https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html. The ARN of a policy may follow. EC2 begins
 * with a sentence of its own.
 */
const DENIAL =
  /^(?:You are not authorized to perform [\w: ]{1,80}\. )?User: arn:[\w-]{1,32}:(?:sts|iam)::\d{0,12}:(?<kind>assumed-role|user)\/(?<name>\S{1,600}) is not authorized to perform: [\w-]{2,32}:\w{3,64}(?: on resource: (?<resource>\S{0,2047}[^\s.]))?(?: because no (?<missing>[A-Za-z -]{1,40}) allows the \S{1,100} action| with an explicit deny in an? (?<denying>[A-Za-z -]{1,40}))?(?:: arn:\S{1,600})?\.?$/;

/** An endpoint of AWS, or a proxy before it, can send messages of any length. */
const MESSAGE_LENGTH = 4_096;

interface Parts {
  readonly name: string;
  readonly code: string | undefined;
  readonly message: string;
  readonly status: number | undefined;
}

/** Reads any thrown value. The numeric code of a DOMException is ignored. */
function partsOf(error: unknown): Parts {
  const { name, code, message, $metadata } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const { httpStatusCode } = ($metadata ?? {}) as Readonly<Record<string, unknown>>;
  return {
    name: typeof name === 'string' && name ? foreignText(name) : 'Error',
    code: typeof code === 'string' ? foreignText(code) : undefined,
    message: typeof message === 'string' ? message.slice(0, MESSAGE_LENGTH) : '',
    status: typeof httpStatusCode === 'number' ? httpStatusCode : undefined,
  };
}

/** Classifies an error of an SDK call. The message is the same for every attempt, so that a condition can quote it. */
export function toCallError(operation: string, error: unknown): CallError {
  const { name, code, message, status } = partsOf(error);
  if (isTransient(name, code, status)) {
    const what = status === undefined ? 'AWS cannot be reached' : `AWS responded with HTTP ${status}`;
    // A proxy's page or a broken connection: the SDK's message names a parser or a socket, which does not help.
    const own = KINDS.has(name) && message ? scrub(message) : '';
    return { kind: 'unavailable', operation, code: code ?? name, message: own || what };
  }
  const kind = kindOf(name, message, status);
  const action = kind === 'denied' ? missingAction(message) : undefined;
  const denial = action === undefined ? undefined : denialIn(scrub(message));
  const mayBeOffered = kind === 'refused' && RELEASE_NOT_OFFERED.test(message);
  return {
    kind,
    operation,
    code: name,
    message: scrub(message),
    ...(action !== undefined && { action }),
    ...(denial && { denial }),
    ...(mayBeOffered && { isTransient: mayBeOffered }),
  };
}

/** A response without its object, or with other data than AWS sends. A write may have taken effect. */
export class MalformedResponse extends Error {
  constructor(what: string) {
    super(`AWS responded ${what}. Check the proxies between the operator and AWS.`);
    this.name = 'MalformedResponse';
  }
}

/** The error of a response without its object. */
export function malformed(operation: string): CallError {
  return toCallError(operation, new MalformedResponse('without the requested object'));
}

function lacksPermission(message: string): boolean {
  return !PRIVATE_IMAGE.test(message) && MISSING_PERMISSIONS.some(({ words }) => words.test(message));
}

function missingAction(message: string): string | undefined {
  return NAMED_ACTION.exec(message)?.[1] ?? MISSING_PERMISSIONS.find(({ words }) => words.test(message))?.action;
}

function denialIn(message: string): Denial | undefined {
  const { kind, name = '', resource, missing, denying } = DENIAL.exec(message)?.groups ?? {};
  if (kind === undefined) return undefined;
  // A session follows the name of a role, and a path precedes that of a user.
  const principal = kind === 'user' ? `user ${name.split('/').at(-1)}` : `role ${name.split('/')[0]}`;
  const policy = missing ?? denying;
  return {
    principal,
    ...(resource !== undefined && { resource }),
    ...(policy !== undefined && { policy }),
    ...(denying !== undefined && { isExplicit: true as const }),
  };
}

/** Network errors, responses that are not from an AWS service, and a 5xx with an unknown name. */
function isTransient(name: string, code: string | undefined, status: number | undefined): boolean {
  if (name === 'SyntaxError' || (status !== undefined && status >= 500 && !KINDS.has(name))) return true;
  return status === undefined && (!KINDS.has(name) || code !== undefined) && name !== 'CredentialsProviderError';
}

function kindOf(name: string, message: string, status: number | undefined): CallErrorKind {
  // EKS answers InvalidRequest while the cluster is being created or updated.
  if (/is not in ACTIVE status/.test(message)) return 'busy';
  if (BAD_REQUESTS.has(name) && lacksPermission(message)) return 'denied';
  const known = KINDS.get(name);
  if (known) return known;
  if (status === 429) return 'throttled';
  if (status === 409 || status === 428) return 'busy';
  return status === 401 || status === 403 ? 'denied' : 'unknown';
}
