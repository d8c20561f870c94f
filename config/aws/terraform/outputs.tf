output "role_arn" {
  description = "ARN of the operator's IAM role. For IRSA: the value of the annotation eks.amazonaws.com/role-arn of the ServiceAccount."
  value       = aws_iam_role.operator.arn
}
