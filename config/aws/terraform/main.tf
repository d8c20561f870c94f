# The IAM role of the operator, with the policies beside this folder.

data "aws_partition" "current" {}
data "aws_region" "current" {}
data "aws_caller_identity" "current" {}

locals {
  uses_pod_identity = var.oidc_provider == null
  trust_policy      = local.uses_pod_identity ? "trust-policy-pod-identity" : "trust-policy-irsa"

  placeholders = {
    PARTITION         = data.aws_partition.current.partition
    REGION            = data.aws_region.current.name
    ACCOUNT_ID        = data.aws_caller_identity.current.account_id
    CLUSTER_NAME      = var.cluster_name
    NODE_ROLE_NAME    = var.node_role_name
    CLUSTER_ROLE_NAME = var.cluster_role_name
    VPC_CNI_ROLE_NAME = coalesce(var.vpc_cni_role_name, "-")
    OIDC_PROVIDER     = coalesce(var.oidc_provider, "-")
  }

  # The text is split at each placeholder, and joined with the values.
  documents = {
    for name in setunion(["iam-policy", local.trust_policy], var.policies) : name => join("", [
      for part in regexall("[A-Z]+(?:_[A-Z]+)*|[^A-Z]+|[A-Z]", file("${path.module}/../${name}.json")) : lookup(local.placeholders, part, part)
    ])
  }
}

resource "aws_iam_role" "operator" {
  name               = var.role_name
  assume_role_policy = local.documents[local.trust_policy]
  tags               = var.tags
}

# Inline, because a managed policy has at most 6,144 characters, which long names exceed.
resource "aws_iam_role_policy" "operator" {
  name   = "windowspool-operator"
  role   = aws_iam_role.operator.name
  policy = local.documents["iam-policy"]
}

resource "aws_iam_policy" "optional" {
  for_each = var.policies

  name   = "${var.role_name}-${each.key}"
  policy = local.documents[each.key]
  tags   = var.tags

  lifecycle {
    precondition {
      condition     = each.key != "windows-ipam" || var.vpc_cni_role_name != null
      error_message = "The policy windows-ipam requires vpc_cni_role_name."
    }
  }
}

resource "aws_iam_role_policy_attachment" "optional" {
  for_each = var.policies

  role       = aws_iam_role.operator.name
  policy_arn = aws_iam_policy.optional[each.key].arn
}

resource "aws_eks_pod_identity_association" "operator" {
  count = local.uses_pod_identity ? 1 : 0

  cluster_name    = var.cluster_name
  namespace       = "winpool-system"
  service_account = "windowspool-operator"
  role_arn        = aws_iam_role.operator.arn
  tags            = var.tags
}
