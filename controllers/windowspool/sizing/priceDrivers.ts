/** What the nodes of a pool cost money for. Without prices, which depend on the region, the date and the contract. */

/** Something that costs money, on what it depends, and where its price is. */
export interface PriceDriver {
  readonly name: string;
  /** What increases or lowers it: sentences. */
  readonly about: string;
  readonly url: string;
}

const EC2_PRICES = 'https://aws.amazon.com/ec2/pricing/on-demand/';
const EBS_PRICES = 'https://aws.amazon.com/ebs/pricing/';

/** In the order in which to look at them. */
export const PRICE_DRIVERS: readonly PriceDriver[] = [
  {
    name: 'Instances',
    about:
      'Type, number and hours. The price of a Windows instance includes the license. Rolling updates run additional instances.',
    url: EC2_PRICES,
  },
  {
    name: 'Purchase option',
    about: 'Spot (nodeGroup.capacityType: Spot), Savings Plans or Reserved Instances.',
    url: 'https://aws.amazon.com/ec2/pricing/',
  },
  {
    name: 'Root volumes',
    about: 'Their size, IOPS and throughput, for each node and each instance of a warm pool.',
    url: EBS_PRICES,
  },
  {
    name: 'Warm pool',
    about: 'Stopped and hibernated instances keep their volumes. Running ones cost as much as nodes.',
    url: EC2_PRICES,
  },
  {
    name: 'Image pulls',
    about:
      'Storage and traffic of the registry, and traffic of each new node through a NAT gateway or an interface endpoint.',
    url: 'https://aws.amazon.com/vpc/pricing/',
  },
  {
    name: 'Traffic between zones',
    about: 'Data that pods exchange with other Availability Zones.',
    url: EC2_PRICES,
  },
  {
    name: 'Linux nodes and control plane',
    about: 'A cluster needs Linux nodes for CoreDNS. The extended support of a Kubernetes version costs more.',
    url: 'https://aws.amazon.com/eks/pricing/',
  },
];
