import assert from 'node:assert/strict';
import { mergedUserData } from './mergedUserData.ts';

const cluster = {
  name: 'demo',
  region: 'eu-west-1',
  endpoint: 'https://a',
  caData: 'Yg==',
  kubernetesVersion: '1.36',
  accountId: '1',
  createdAt: new Date(0),
};
const merged = (own?: string) => {
  const encoded = own === undefined ? undefined : Buffer.from(own).toString('base64');
  return Buffer.from(mergedUserData({ cluster }, encoded), 'base64').toString().split('\n');
};

describe('user data of a template without an image', () => {
  it('is that of EKS, if the template has none', () => {
    const lines = merged();
    assert.deepEqual([lines.length, lines[0], lines[3]], [5, '<powershell>', '</powershell>']);
    assert.match(lines[2] ?? '', /-EKSClusterName "demo" -APIServerEndpoint "https:\/\/a" -Base64ClusterCA "Yg=="/);
  });

  it('has the commands of the template first, within the same tag', () => {
    const lines = merged('<powershell>\r\nWrite-Host a\n</powershell>\n');
    assert.deepEqual(lines.slice(0, 2), ['<powershell>', 'Write-Host a']);
    assert.equal(lines.filter((line) => line.includes('powershell>')).length, 2);
  });

  it('loses what is not within the tag', () => {
    assert.deepEqual(merged('Write-Host a'), merged());
  });
});
