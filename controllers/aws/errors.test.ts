import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CallError, CallErrorKind } from '../windowspool/ports/callResult.ts';
import { ERROR_NAMES, toCallError } from './errors.ts';

/** An error as the SDK throws it. */
function sdkError(name: string, status: number | undefined, message: string, code?: string): Error {
  const $metadata =
    status === undefined ? {} : { $metadata: { httpStatusCode: status, requestId: 'req-1', attempts: 3 } };
  return Object.assign(new Error(message), { name, ...(code && { code }), ...$metadata });
}

describe('an error with a name of AWS', () => {
  const table: readonly (readonly [string, number, CallErrorKind])[] = [
    ['InvalidParameterException', 400, 'refused'],
    ['InvalidRequestException', 400, 'refused'],
    ['BadRequestException', 400, 'refused'],
    ['ResourceLimitExceededException', 400, 'limit'],
    ['ClientException', 400, 'unknown'],
    ['AccessDeniedException', 403, 'denied'],
    ['UnrecognizedClientException', 403, 'denied'],
    ['ExpiredTokenException', 403, 'denied'],
    ['InvalidSignatureException', 403, 'denied'],
    ['ResourceNotFoundException', 404, 'gone'],
    ['NotFoundException', 404, 'gone'],
    ['ResourceInUseException', 409, 'busy'],
    ['ResourcePropagationDelayException', 428, 'busy'],
    ['ScalingActivityInProgressFault', 400, 'busy'],
    ['ThrottlingException', 429, 'throttled'],
    ['TooManyRequestsException', 429, 'throttled'],
    ['ServerException', 500, 'unavailable'],
    ['ServiceUnavailableException', 503, 'unavailable'],
    ['RequestLimitExceeded', 503, 'throttled'],
    ['UnauthorizedOperation', 403, 'denied'],
    ['AuthFailure', 401, 'denied'],
    ['InvalidInstanceID.NotFound', 400, 'unknown'],
  ];
  it('has one kind', () => {
    const names = Object.values(ERROR_NAMES).flatMap((listed) => listed.split(' '));
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  });

  for (const [name, status, kind] of table) {
    it(`${name} (${status}) is ${kind}`, () => {
      const operation = 'CreateNodegroup';
      assert.deepEqual(toCallError(operation, sdkError(name, status, 'Words of AWS.')), {
        kind,
        operation,
        code: name,
        message: 'Words of AWS.',
      });
    });
  }
});

describe('an error without a name of AWS', () => {
  const table: readonly (readonly [string, Error, CallErrorKind, string, string])[] = [
    [
      'a page of a proxy',
      sdkError('SyntaxError', 502, 'Unexpected token <'),
      'unavailable',
      'SyntaxError',
      'AWS responded with HTTP 502',
    ],
    [
      'a page of a proxy with HTTP 200',
      sdkError('SyntaxError', 200, 'Unexpected token <'),
      'unavailable',
      'SyntaxError',
      'AWS responded with HTTP 200',
    ],
    [
      'an empty response',
      sdkError('Unknown', 503, 'UnknownError'),
      'unavailable',
      'Unknown',
      'AWS responded with HTTP 503',
    ],
    ['a bare 404 is not "gone"', sdkError('Unknown', 404, 'UnknownError'), 'unknown', 'Unknown', 'UnknownError'],
    ['a bare 403', sdkError('Unknown', 403, 'UnknownError'), 'denied', 'Unknown', 'UnknownError'],
    ['a bare 409', sdkError('Unknown', 409, 'UnknownError'), 'busy', 'Unknown', 'UnknownError'],
    ['a bare 428', sdkError('Unknown', 428, 'UnknownError'), 'busy', 'Unknown', 'UnknownError'],
    ['a bare 429', sdkError('Unknown', 429, 'UnknownError'), 'throttled', 'Unknown', 'UnknownError'],
    [
      'a reset connection',
      sdkError('TimeoutError', undefined, 'read ECONNRESET', 'ECONNRESET'),
      'unavailable',
      'ECONNRESET',
      'read ECONNRESET',
    ],
    [
      'a refused connection',
      sdkError('Error', undefined, 'connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED'),
      'unavailable',
      'ECONNREFUSED',
      'AWS cannot be reached',
    ],
    [
      'a name that does not resolve',
      sdkError('Error', undefined, 'getaddrinfo ENOTFOUND eks', 'ENOTFOUND'),
      'unavailable',
      'ENOTFOUND',
      'AWS cannot be reached',
    ],
    [
      'an aborted request',
      sdkError('AbortError', undefined, 'Request aborted'),
      'unavailable',
      'AbortError',
      'Request aborted',
    ],
    [
      'missing credentials',
      sdkError('CredentialsProviderError', undefined, 'Could not load credentials'),
      'denied',
      'CredentialsProviderError',
      'Could not load credentials',
    ],
    [
      'a cluster that is being created',
      sdkError('InvalidRequestException', 400, "Cluster 'prod' is not in ACTIVE status"),
      'busy',
      'InvalidRequestException',
      "Cluster 'prod' is not in ACTIVE status",
    ],
  ];
  for (const [name, error, kind, code, message] of table) {
    it(`${name} is ${kind}`, () => {
      assert.deepEqual(toCallError('DescribeNodegroup', error), {
        kind,
        operation: 'DescribeNodegroup',
        code,
        message,
      });
    });
  }

  it('has its name as code if it is a timeout of the operator, not the numeric code of a DOMException', () => {
    const { kind, code } = toCallError('DescribeNodegroup', new DOMException('too slow', 'TimeoutError'));
    assert.deepEqual({ kind, code }, { kind: 'unavailable', code: 'TimeoutError' });
  });

  it('is classified even if the thrown value is not an Error', () => {
    fc.assert(
      fc.property(fc.anything(), (thrown) => {
        const { kind, code, message } = toCallError('DescribeNodegroup', thrown);
        assert.deepEqual([typeof kind, typeof code, typeof message], ['string', 'string', 'string']);
      }),
    );
  });
});

describe('the classification of missing permissions', () => {
  const user = 'User: arn:aws:sts::111122223333:assumed-role/operator/operator';
  const launch = 'You are not authorized to launch instances with this launch template.';
  const slr = 'AWSServiceRoleForAmazonEKSNodegroup';
  const table: readonly (readonly [message: string, kind: CallErrorKind, action?: string])[] = [
    [`${launch} Encoded authorization failure message: SAh2nDlM_rJs7hFuZ5hszTmXB0Cpmz2`, 'denied', 'ec2:RunInstances'],
    [`${launch} ${user} is not authorized to perform: ec2:CreateTags on resource: x`, 'denied', 'ec2:CreateTags'],
    [
      `Failed to validate if SLR: ${slr} already exists due to missing permissions for 'iam:GetRole'`,
      'denied',
      'iam:GetRole',
    ],
    [
      `Failed to create service linked role: ${slr} due to missing permissions for 'iam:CreateServiceLinkedRole'`,
      'denied',
      'iam:CreateServiceLinkedRole',
    ],
    [`${user} is not authorized to perform: iam:PassRole on resource: role nodes`, 'denied', 'iam:PassRole'],
    ['You are not authorized to perform this operation.', 'denied'],
    ['You are not authorized to perform ec2:DescribeSubnets.', 'denied', 'ec2:DescribeSubnets'],
    [`${launch} Not authorized for images: [ami-1]`, 'refused'],
    ['Cannot specify instance types in launch template and API request', 'refused'],
    ['The role nodes is not authorized', 'refused'],
    ['', 'refused'],
  ];
  for (const code of ['InvalidRequestException', 'InvalidParameterException']) {
    for (const [message, kind, action] of table) {
      it(`of ${code} "${message.slice(0, 110)}" is ${kind}, with the permission ${action ?? 'unknown'}`, () => {
        const error = toCallError('CreateNodegroup', sdkError(code, 400, message));
        assert.deepEqual([error.kind, error.action], [kind, action]);
        assert.doesNotMatch(error.message, /Encoded|SAh2/);
      });
    }
  }

  it('has the permission in the message of an AccessDeniedException', () => {
    const action = (message: string) => toCallError('x', sdkError('AccessDeniedException', 403, message)).action;
    assert.equal(
      action(`${user} is not authorized to perform: eks:CreateNodegroup on resource: x`),
      'eks:CreateNodegroup',
    );
    assert.equal(action('Cross-account pass role is not allowed.'), undefined);
  });

  const role = 'User: arn:aws:sts::111122223333:assumed-role/windowspool-operator/session';
  const action = 'is not authorized to perform: eks:CreateNodegroup';
  const resource = 'arn:aws:eks:eu-west-1:111122223333:cluster/demo';
  const principal = 'role windowspool-operator';
  const missing = (policy: string) => `because no ${policy} allows the eks:CreateNodegroup action`;
  const denials: readonly (readonly [message: string, denial: CallError['denial']])[] = [
    [`${role} ${action} on resource: ${resource}.`, { principal, resource }],
    [
      `${role} ${action} on resource: ${resource} ${missing('identity-based policy')}`,
      { principal, resource, policy: 'identity-based policy' },
    ],
    [
      `${role} ${action} ${missing('permissions boundary')}. Encoded authorization failure message: SAh2xyz`,
      { principal, policy: 'permissions boundary' },
    ],
    [
      `You are not authorized to perform this operation. ${role} ${action} on resource: * with an explicit deny in a service control policy: arn:aws:organizations::1:policy/o-1/p-1`,
      { principal, resource: '*', policy: 'service control policy', isExplicit: true },
    ],
    [
      `User: arn:aws-us-gov:iam::111122223333:user/team/ci ${action} with an explicit deny in an identity-based policy`,
      { principal: 'user ci', policy: 'identity-based policy', isExplicit: true },
    ],
    [`${role} ${action} on resource: ${resource}, ask your administrator`, undefined],
    [`User: someone ${action}`, undefined],
  ];
  for (const [message, denial] of denials)
    it(`has whom IAM denied what, and by which policy: ${message}`, () => {
      const error = toCallError('x', sdkError('AccessDeniedException', 403, message));
      assert.deepEqual([error.action, error.denial], ['eks:CreateNodegroup', denial]);
    });

  it('does not apply to quota errors', () => {
    const { kind, action } = toCallError('x', sdkError('ResourceLimitExceededException', 400, launch));
    assert.deepEqual([kind, action], ['limit', undefined]);
  });

  it('reports only a short name in the format of IAM as the permission', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 5_000 }), (words) => {
        const message = `is not authorized to perform: ${words}`;
        const { action = 'iam:GetRole' } = toCallError('x', sdkError('InvalidRequestException', 400, message));
        assert.match(action, /^[a-z0-9-]{2,32}:[A-Za-z]{3,64}$/);
      }),
    );
  });
});

describe('a release that EKS does not offer', () => {
  const table: readonly (readonly [message: string, passes: true | undefined])[] = [
    ['Requested release version 1.31.3-20250103 is not valid for kubernetes version 1.30.', true],
    [
      'Requested Nodegroup release version 1.16.13-20201007 is invalid. Allowed release version is 1.16.15-20201107',
      true,
    ],
    [
      'Requested Node Group release version 1.14.7-20190927 is invalid. Allowed release version is 1.14.8-20191213',
      true,
    ],
    ['You cannot specify the field releaseVersion when using custom AMIs.', undefined],
    ['unsupported Kubernetes version 1.99', undefined],
  ];
  for (const [message, passes] of table) {
    it(`${passes ? 'can be offered later' : 'is not the cause'}: ${message}`, () => {
      const error = toCallError('UpdateNodegroupVersion', sdkError('InvalidParameterException', 400, message));
      assert.deepEqual([error.kind, error.isTransient], ['refused', passes]);
    });
  }
});
