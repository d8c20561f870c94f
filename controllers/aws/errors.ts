/**
 * AWS' errors, classified once, by name: the HTTP status alone is not enough, and the SDK marks no EKS error as retryable.
 * Sources: the error lists of https://docs.aws.amazon.com/eks/latest/APIReference/ and https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html and the models of the services.
 */
import { type CallError, type CallErrorKind, scrub } from '../windowspool/ports/callResult.ts';

const KINDS: ReadonlyMap<string, CallErrorKind> = new Map(
  Object.entries<CallErrorKind>({
    ThrottlingException: 'throttled',
    Throttling: 'throttled',
    TooManyRequestsException: 'throttled',
    RequestLimitExceeded: 'throttled',
    ScalingActivityInProgress: 'busy',
    ScalingActivityInProgressFault: 'busy',
    ResourceContention: 'busy',
    ResourceContentionFault: 'busy',
    ServerException: 'unavailable',
    ServiceUnavailableException: 'unavailable',
    ServiceUnavailable: 'unavailable',
    InternalError: 'unavailable',
    TimeoutError: 'unavailable',
    AbortError: 'unavailable',
    ResourceInUseException: 'busy',
    ResourcePropagationDelayException: 'busy',
    AccessDeniedException: 'denied',
    AccessDenied: 'denied',
    UnauthorizedOperation: 'denied',
    AuthFailure: 'denied',
    UnrecognizedClientException: 'denied',
    MissingAuthenticationTokenException: 'denied',
    MissingAuthenticationToken: 'denied',
    InvalidIdentityToken: 'denied',
    IDPCommunicationError: 'unavailable',
    ExpiredTokenException: 'denied',
    InvalidSignatureException: 'denied',
    CredentialsProviderError: 'denied',
    InvalidParameterException: 'refused',
    InvalidRequestException: 'refused',
    BadRequestException: 'refused',
    ValidationError: 'refused',
    ResourceLimitExceededException: 'limit',
    LimitExceeded: 'limit',
    LimitExceededFault: 'limit',
    ResourceNotFoundException: 'gone',
    NotFoundException: 'gone',
    ParameterNotFound: 'gone',
    'InvalidAMIID.NotFound': 'gone',
    'InvalidLaunchTemplateId.NotFound': 'gone',
    'InvalidLaunchTemplateId.Malformed': 'gone',
    'InvalidLaunchTemplateId.VersionNotFound': 'gone',
    'InvalidLaunchTemplateName.NotFoundException': 'gone',
  }),
);

/** How EKS words a request that is wrong; the permissions that it needs of the caller come as the same two. */
const BAD_REQUESTS: ReadonlySet<string> = new Set(['InvalidRequestException', 'InvalidParameterException']);

/**
 * Words by which EKS reports that the caller lacks a permission. Seen in InvalidRequestException: terraform-aws-eks#823 (iam:GetRole), XenitAB/terraform-modules#396
 * (iam:CreateServiceLinkedRole), aws-samples/terraform-eks-code#13 and scylla-cluster-tests#12172 (the launch template). In AccessDeniedException:
 * aws-controllers-k8s/community#2164. An action that the message names goes before the one that is meant here.
 */
const MISSING_PERMISSIONS: readonly { readonly words: RegExp; readonly action?: string }[] = [
  { words: /\byou are not authorized to launch instances with this launch template\b/i, action: 'ec2:RunInstances' },
  { words: /\bmissing permissions for\b/i },
  { words: /\bnot authorized to perform\b/i },
];

/** EKS says "not authorized", and no permission helps: the image is private, as those of Windows are four months after their release. */
const PRIVATE_IMAGE = /\bnot authorized for images\b/i;

/**
 * EKS does not offer an AMI release, and may do so later: the SSM parameter of the newest AMI and EKS do not change at the same moment. Seen: eksctl-io/eksctl#7976
 * ("is not valid for kubernetes version"), awslabs/amazon-eks-ami#559 ("is invalid. Allowed release version is ...").
 */
const RELEASE_NOT_OFFERED = /\brelease version \S+ is (?:not valid for kubernetes version|invalid\b)/i;

/** The IAM action in such a message: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_action.html */
const NAMED_ACTION = /\b(?:not authorized to perform:?|missing permissions for) '?([a-z0-9-]{2,32}:[A-Za-z]{3,64})\b/;

interface Parts {
  readonly name: string;
  readonly code: string | undefined;
  readonly message: string;
  readonly status: number | undefined;
}

/** What is told of an error, whatever was thrown. A DOMException's code is a number that says nothing. */
function partsOf(error: unknown): Parts {
  const { name, code, message, $metadata } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const { httpStatusCode } = ($metadata ?? {}) as Readonly<Record<string, unknown>>;
  return {
    name: typeof name === 'string' && name ? name : 'Error',
    code: typeof code === 'string' ? code : undefined,
    message: typeof message === 'string' ? message : '',
    status: typeof httpStatusCode === 'number' ? httpStatusCode : undefined,
  };
}

/** Any error of an SDK call as trouble. Its message is the same at every try, so that it can stand in a condition. */
export function toCallError(operation: string, error: unknown): CallError {
  const { name, code, message, status } = partsOf(error);
  if (isTransient(name, code, status)) {
    const what = status === undefined ? 'AWS cannot be reached' : `AWS answered with HTTP ${status}`;
    // A page of a proxy, or a broken connection: the SDK's words name a parser or a socket and help nobody.
    const own = KINDS.has(name) && message ? scrub(message) : '';
    return { kind: 'unavailable', operation, code: code ?? name, message: own || what };
  }
  const kind = kindOf(name, message, status);
  const action = kind === 'denied' ? missingAction(message) : undefined;
  const passes = kind === 'refused' && RELEASE_NOT_OFFERED.test(message);
  return {
    kind,
    operation,
    code: name,
    message: scrub(message),
    ...(action !== undefined && { action }),
    ...(passes && { passes }),
  };
}

function lacksPermission(message: string): boolean {
  return !PRIVATE_IMAGE.test(message) && MISSING_PERMISSIONS.some(({ words }) => words.test(message));
}

function missingAction(message: string): string | undefined {
  return NAMED_ACTION.exec(message)?.[1] ?? MISSING_PERMISSIONS.find(({ words }) => words.test(message))?.action;
}

/** Network trouble, and answers that no AWS service wrote; a 5xx under a name that is not known. */
function isTransient(name: string, code: string | undefined, status: number | undefined): boolean {
  if (name === 'SyntaxError' || (status !== undefined && status >= 500 && !KINDS.has(name))) return true;
  return status === undefined && (!KINDS.has(name) || code !== undefined) && name !== 'CredentialsProviderError';
}

function kindOf(name: string, message: string, status: number | undefined): CallErrorKind {
  // EKS says InvalidRequest while the cluster itself is being created or updated: that passes.
  if (/is not in ACTIVE status/.test(message)) return 'busy';
  if (BAD_REQUESTS.has(name) && lacksPermission(message)) return 'denied';
  const known = KINDS.get(name);
  if (known) return known;
  if (status === 429) return 'throttled';
  if (status === 409 || status === 428) return 'busy';
  return status === 401 || status === 403 ? 'denied' : 'unknown';
}
