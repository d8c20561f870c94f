/**
 * The IAM role of the operator as a CloudFormation template, from the policies in config/aws, which are tested.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_IAM.html
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const POLICIES = fileURLToPath(new URL('../../config/aws/', import.meta.url));

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type Fields = { readonly [key: string]: Json };

/** The placeholders of the policies: a pseudo parameter of CloudFormation, or a parameter of the template. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  PARTITION: 'AWS::Partition',
  REGION: 'AWS::Region',
  ACCOUNT_ID: 'AWS::AccountId',
  CLUSTER_NAME: 'ClusterName',
  NODE_ROLE_NAME: 'NodeRoleName',
  CLUSTER_ROLE_NAME: 'ClusterRoleName',
  VPC_CNI_ROLE_NAME: 'VpcCniRoleName',
  OIDC_PROVIDER: 'OidcProvider',
};

/** The policies that only some pools need: the parameter that attaches each. */
const OPTIONAL = {
  LaunchTemplates: ['launch-templates', 'Whether pools use launch templates, your own or those of the operator.'],
  OwnLaunchTemplates: ['own-launch-templates', 'Whether pools have launch settings. Also set LaunchTemplates.'],
  CustomAmis: ['custom-amis', 'Whether pools have custom AMIs. Also set LaunchTemplates.'],
  WindowsIpam: [
    'windows-ipam',
    'Whether the operator may enable Windows IPAM in the vpc-cni add-on. Also set VpcCniRoleName.',
  ],
} as const;

const ROLE_NAME = '^[\\w+=,.@-]{1,64}$';

/** The template in JSON. */
export async function cloudFormationTemplate(): Promise<string> {
  const trust = { pods: await read('trust-policy-pod-identity'), irsa: await text('trust-policy-irsa') };
  const optional = await Promise.all(
    Object.entries(OPTIONAL).map(async ([name, [file]]) => [`${name}Policy`, managedPolicy(name, await read(file))]),
  );
  const template: Fields = {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: 'The IAM role of windowspool-operator in one EKS cluster.',
    Parameters: parameters(),
    Conditions: {
      UsesPodIdentity: { 'Fn::Equals': [{ Ref: 'OidcProvider' }, ''] },
      ...Object.fromEntries(Object.keys(OPTIONAL).map((name) => [name, { 'Fn::Equals': [{ Ref: name }, 'true'] }])),
    },
    Rules: {
      RoleOfVpcCni: {
        RuleCondition: { 'Fn::Equals': [{ Ref: 'WindowsIpam' }, 'true'] },
        Assertions: [
          {
            Assert: { 'Fn::Not': [{ 'Fn::Equals': [{ Ref: 'VpcCniRoleName' }, ''] }] },
            AssertDescription: 'WindowsIpam requires VpcCniRoleName, the role of the vpc-cni add-on.',
          },
        ],
      },
    },
    Resources: {
      Role: {
        Type: 'AWS::IAM::Role',
        Properties: {
          // As text, because CloudFormation replaces nothing in the names of fields, where the condition has the provider.
          AssumeRolePolicyDocument: { 'Fn::If': ['UsesPodIdentity', trust.pods, substituted(trust.irsa)] },
        },
      },
      // Inline, because a managed policy has at most 6,144 characters, which long names exceed.
      Policy: {
        Type: 'AWS::IAM::RolePolicy',
        Properties: {
          RoleName: { Ref: 'Role' },
          PolicyName: 'windowspool-operator',
          PolicyDocument: await read('iam-policy'),
        },
      },
      PodIdentityAssociation: {
        Type: 'AWS::EKS::PodIdentityAssociation',
        Condition: 'UsesPodIdentity',
        Properties: {
          ClusterName: { Ref: 'ClusterName' },
          Namespace: 'winpool-system',
          ServiceAccount: 'windowspool-operator',
          RoleArn: { 'Fn::GetAtt': ['Role', 'Arn'] },
        },
      },
      ...Object.fromEntries(optional),
    },
    Outputs: {
      RoleArn: {
        Description: 'For IRSA: the value of the annotation eks.amazonaws.com/role-arn of the ServiceAccount.',
        Value: { 'Fn::GetAtt': ['Role', 'Arn'] },
      },
    },
  };
  return `${JSON.stringify(template, null, 2)}\n`;
}

function parameters(): Fields {
  const role = (Description: string) => ({ Type: 'String', Description, AllowedPattern: ROLE_NAME });
  return {
    ClusterName: {
      Type: 'String',
      Description: 'Name of the EKS cluster.',
      AllowedPattern: '^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$',
    },
    NodeRoleName: role('Name of the IAM role of the Windows nodes, without its path.'),
    ClusterRoleName: role('Name of the IAM role of the cluster, without its path.'),
    OidcProvider: {
      Type: 'String',
      Description:
        'For IRSA: the OIDC provider of the cluster, without https://. If empty, the role is for EKS Pod Identity.',
      Default: '',
    },
    VpcCniRoleName: {
      Type: 'String',
      Description: 'Name of the IAM role of the vpc-cni add-on, for WindowsIpam.',
      Default: '',
    },
    ...Object.fromEntries(
      Object.entries(OPTIONAL).map(([name, [, Description]]) => [
        name,
        { Type: 'String', Description, AllowedValues: ['true', 'false'], Default: 'false' },
      ]),
    ),
  };
}

function managedPolicy(Condition: string, PolicyDocument: Json): Json {
  return { Type: 'AWS::IAM::ManagedPolicy', Condition, Properties: { Roles: [{ Ref: 'Role' }], PolicyDocument } };
}

const text = (name: string) => readFile(`${POLICIES}${name}.json`, 'utf8');
const read = async (name: string): Promise<Json> => withSubstitutions(JSON.parse(await text(name)));

function withSubstitutions(value: Json): Json {
  if (typeof value === 'string') return substituted(value);
  if (Array.isArray(value)) return value.map(withSubstitutions);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withSubstitutions(one)]));
}

/** `Fn::Sub` where the text has placeholders. */
function substituted(value: string): Json {
  const replaced = value.replace(/\b[A-Z]+(?:_[A-Z]+)*\b/g, (word) => {
    const name = PLACEHOLDERS[word];
    return name ? `\${${name}}` : word;
  });
  return replaced === value ? value : { 'Fn::Sub': replaced };
}
