/** The EKS client with the commands in use only. config/aws/iam-policy.json allows them. */
export {
  CreateAccessEntryCommand,
  CreateNodegroupCommand,
  DeleteNodegroupCommand,
  DescribeAccessEntryCommand,
  DescribeAddonCommand,
  DescribeClusterCommand,
  DescribeNodegroupCommand,
  DescribeUpdateCommand,
  EKSClient,
  ListNodegroupsCommand,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateAddonCommand,
  UpdateNodegroupConfigCommand,
  UpdateNodegroupVersionCommand,
} from '@aws-sdk/client-eks';
