/** Errors of image pulls. */
import type { KnownError, Subject } from './knownError.ts';

const PULLS: Subject = {
  name: 'pulls',
  pattern: /\bpull|ErrImage|failed to resolve reference|failed to do request|httpReadSeeker/i,
};

export const PULL_ERRORS: readonly KnownError[] = [
  {
    name: 'ImageNameInvalid',
    writtenBy: 'kubelet',
    pattern: /InvalidImageName|invalid reference format|couldn't parse image (?:name|reference)/i,
    cause: 'The name of the image is malformed, so nothing was pulled.',
    remedy:
      'Correct it: the repository is in lower case, and a variable of a template that was not replaced is invalid.',
    isLasting: true,
    source: 'https://kubernetes.io/docs/concepts/containers/images/#image-names',
  },
  {
    name: 'PullsLimitedByKubelet',
    writtenBy: 'kubelet',
    pattern: /pull QPS exceeded/i,
    cause: 'The kubelet limits the rate of its own pulls (registryPullQPS, 5 each second by default).',
    remedy: 'Wait: it tries again. The registry and the credentials are not the cause.',
    source: 'https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/',
  },
  {
    name: 'ImageFormatRemoved',
    writtenBy: 'containerd 2.1 and later',
    pattern: /no longer supported since containerd|distribution\.manifest\.v1\+prettyjws/i,
    cause: 'The image has a manifest of schema 1, which containerd no longer pulls.',
    remedy: 'Build and push the image again with current tools.',
    isLasting: true,
    source: 'https://github.com/containerd/containerd/blob/main/RELEASES.md',
  },
  {
    name: 'RegistryCertificate',
    writtenBy: 'containerd when it pulls',
    pattern: /x509:/i,
    within: PULLS,
    cause: 'The node does not accept the certificate of the registry.',
    remedy:
      'If the message has a current time, compare it: if it is wrong, correct the clock of the node (w32tm /query /status); if it is right, renew the certificate. If it says "unknown authority", add the CA of the registry, or of a proxy on the way, to the node. If it says "not valid for" or "valid for", the name differs from that in the certificate.',
    source: 'https://pkg.go.dev/crypto/x509#CertificateInvalidError',
  },
  {
    name: 'ImageLayersDenied',
    writtenBy: 'containerd when it pulls',
    pattern: /(?:starport-layer-bucket|\bs3\b[\w.-]{0,64}amazonaws\.com).{0,1024}(?:403|AccessDenied)/i,
    within: PULLS,
    cause: 'The node may not read the layers of the image from S3, where the registry stores them.',
    remedy:
      'Let the policy of the VPC endpoint for S3 allow s3:GetObject on the bucket in the message: arn:aws:s3:::prod-REGION-starport-layer-bucket/* for ECR. The imagePullSecrets are not the cause.',
    source:
      'https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html, awsdocs/amazon-ecr-user-guide#8, prometheus-community/helm-charts#2421',
  },
  {
    name: 'RegistryCredentials',
    writtenBy: 'containerd when it pulls',
    pattern:
      /no basic auth credentials|authorization failed|pull access denied|unauthorized|403 Forbidden|401 Unauthorized/i,
    within: PULLS,
    cause: 'The registry did not accept the credentials, or the repository does not exist.',
    remedy:
      'Check the name of the repository and the imagePullSecrets of the pod; for ECR, the permissions of the node role and the policy of the repository.',
    source: 'https://kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry/',
  },
  {
    name: 'RegistryRateLimit',
    writtenBy: 'containerd when it pulls',
    pattern: /toomanyrequests|429 Too Many Requests/i,
    within: PULLS,
    cause: 'The registry limits the rate of pulls.',
    remedy: 'Pull with credentials, or through a cache such as an ECR pull-through cache.',
    source: 'https://docs.docker.com/docker-hub/usage/pulls/',
  },
  {
    name: 'RegistryUnreachable',
    writtenBy: 'containerd when it pulls',
    pattern:
      /no such host|connectex:|i\/o timeout|connection refused|TLS handshake timeout|server gave HTTP response to HTTPS client/i,
    within: PULLS,
    cause: 'The node cannot reach the registry.',
    remedy:
      'The message has its address: check the routes, DNS and proxy of the node for it. Windows base layers can come from mcr.microsoft.com also for images of other registries: if the node may not reach it, push the image again with all layers.',
    source: 'https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html, containerd/containerd#7676',
  },
  {
    name: 'ImageNotFound',
    writtenBy: 'containerd when it pulls, kubelet',
    pattern: /manifest unknown|name unknown|repository does not exist|failed to resolve reference.{0,512}: not found/i,
    within: PULLS,
    cause: 'The registry does not have the image.',
    remedy: 'Check the name of the image and its tag.',
    source: 'https://kubernetes.io/docs/concepts/containers/images/',
  },
  {
    name: 'PullInterrupted',
    writtenBy: 'containerd when it pulls',
    pattern: /context canceled|context deadline exceeded|DeadlineExceeded|unexpected EOF/i,
    within: PULLS,
    cause: 'The pull took too long, or was interrupted.',
    remedy:
      'The kubelet tries again. If it fails repeatedly, the node extracts the layers too slowly, or the connection breaks. containerd ends a pull without progress after image_pull_progress_timeout (5 minutes by default). If the disk of the node is busy, use a faster volume (nodeGroup.disk.throughput and iops), smaller images, or pull images before pods need them (verification.imagePrePull).',
    isPossible: true,
    source:
      'openshift/windows-machine-config-operator#205, Mirantis/cri-dockerd#372, https://github.com/containerd/containerd/blob/main/docs/cri/config.md',
  },
  {
    name: 'ImagePullFailed',
    writtenBy: 'kubelet',
    pattern: /ErrImagePull|ImagePullBackOff|Back-off pulling image/,
    cause: 'The image cannot be pulled.',
    remedy: 'Check its name, its registry and the imagePullSecrets of the pod.',
    isGeneric: true,
    source: 'https://kubernetes.io/docs/concepts/containers/images/',
  },
  {
    name: 'ImagePulling',
    writtenBy: 'kubelet (event Pulling)',
    pattern: /^Pulling: Pulling image/,
    cause: 'The node is still pulling the image.',
    remedy:
      'Wait: images of Windows Server Core have several GiB, which the node downloads and extracts. If each new node takes long, pull images before pods need them (verification.imagePrePull), use a faster volume (nodeGroup.disk.throughput and iops), or a smaller base image such as nanoserver.',
    isGeneric: true,
    source: 'kubernetes-sigs/sig-windows-dev-tools#87, Azure/AKS#1677, microsoft/Windows-Containers#364',
  },
];
