variable "cluster_name" {
  description = "Name of the EKS cluster."
  type        = string
}

variable "node_role_name" {
  description = "Name of the IAM role of the Windows nodes, without its path."
  type        = string
}

variable "cluster_role_name" {
  description = "Name of the IAM role of the cluster, without its path."
  type        = string
}

variable "role_name" {
  description = "Name of the operator's IAM role."
  type        = string
  default     = "windowspool-operator"
}

variable "oidc_provider" {
  description = "For IRSA: the OIDC provider of the cluster, without https://. If null, the role is for EKS Pod Identity."
  type        = string
  default     = null
}

variable "policies" {
  description = "Policies of config/aws that only some pools need: launch-templates, own-launch-templates, custom-amis, windows-ipam."
  type        = set(string)
  default     = []

  validation {
    condition     = length(setsubtract(var.policies, ["launch-templates", "own-launch-templates", "custom-amis", "windows-ipam"])) == 0
    error_message = "Use only launch-templates, own-launch-templates, custom-amis and windows-ipam."
  }
}

variable "vpc_cni_role_name" {
  description = "Name of the IAM role of the vpc-cni add-on. The policy windows-ipam requires it."
  type        = string
  default     = null
}

variable "tags" {
  description = "Tags of the role and its policies."
  type        = map(string)
  default     = {}
}
