import { known } from '../../../testing/answers.ts';
import { checkTable } from '../../../testing/checkTable.ts';
import { sampleAddon, sampleFacts, sampleInput, unasked } from '../../../testing/prerequisites.ts';

const testChecks = checkTable('checks/windowsIpamCheck');

const off = known({ 'enable-windows-ipam': 'false' });

const addon = (windowsIpam: boolean, status = 'ACTIVE') => known(sampleAddon({ status, windowsIpam }));

describe('the checks of Windows IPAM', () => {
  testChecks([
    [
      'Windows IPAM that is disabled, without the vpc-cni add-on',
      sampleInput({ facts: sampleFacts({ cniConfig: off }) }),
      [['WindowsIPAMDisabled', 'kubectl -n kube-system', 'configmap amazon-vpc-cni', 'enable-windows-ipam']],
    ],
    [
      'Windows IPAM that was never enabled',
      sampleInput({ facts: sampleFacts({ cniConfig: known({}) }) }),
      [['WindowsIPAMDisabled', 'kubectl -n kube-system', 'configmap amazon-vpc-cni', 'enable-windows-ipam']],
    ],
    [
      'Windows IPAM that is disabled in the vpc-cni add-on',
      sampleInput({ facts: sampleFacts({ cniConfig: off, cniAddon: addon(false) }) }),
      [['WindowsIPAMDisabled', 'kube-system/amazon-vpc-cni', 'prod', '{"enableWindowsIpam":"true"}']],
    ],
    [
      'Windows IPAM that is enabled in the vpc-cni add-on and not in the ConfigMap',
      sampleInput({
        facts: sampleFacts({ cniConfig: known(undefined), cniAddon: addon(true, 'DEGRADED') }),
      }),
      [
        [
          'WindowsIPAMDisabled',
          'DEGRADED',
          'kubectl -n kube-system',
          'configmap amazon-vpc-cni',
          'enable-windows-ipam',
        ],
      ],
    ],
    [
      'Windows IPAM that is disabled, if the add-on cannot be read',
      sampleInput({ facts: sampleFacts({ cniConfig: off, cniAddon: unasked() }) }),
      [
        [
          'WindowsIPAMDisabled',
          'kube-system/amazon-vpc-cni',
          'enable-windows-ipam',
          '{"enableWindowsIpam":"true"}',
          'aws eks describe-addon --cluster-name prod --addon-name vpc-cni',
        ],
      ],
    ],
    [
      'Windows IPAM that is enabled only in the ConfigMap',
      sampleInput({ facts: sampleFacts({ cniAddon: addon(false) }) }),
      [],
    ],
    [
      'Windows IPAM that is enabled in the add-on, if the ConfigMap cannot be read',
      sampleInput({ facts: sampleFacts({ cniConfig: unasked(), cniAddon: addon(true) }) }),
      [],
    ],
  ]);
});
