import assert from 'node:assert/strict';
import fc from 'fast-check';
import { comparable, windowsInstancesIn } from './windowsInstances.ts';

const NO_ADDRESS = 'is neither an IPv4 address nor a DNS name';
const OTHER_VALUE = 'has a value other than username=NAME';

describe('a list of Windows hosts', () => {
  const cases: readonly (readonly [entry: string, value: string, outcome: string])[] = [
    ['10.1.42.1', 'username=Administrator', '10.1.42.1'],
    ['instance.example.com', 'username=core', 'instance.example.com'],
    ['WIN-1', 'username=core', 'win-1'],
    ['win-1.example.com.', 'username=core\n', 'win-1.example.com'],
    ['10-0-0-1.example.com', '', '10-0-0-1.example.com'],
    ['1.example', 'username=a', '1.example'],
    ['0.0.0.0', 'username=a', '0.0.0.0'],
    ['10.0.0.300', 'username=a', NO_ADDRESS],
    ['10.0.0', 'username=a', NO_ADDRESS],
    ['010.0.0.1', 'username=a', NO_ADDRESS],
    ['my_host', 'username=a', NO_ADDRESS],
    ['-host', 'username=a', NO_ADDRESS],
    ['a..b', 'username=a', NO_ADDRESS],
    ['.', 'username=a', NO_ADDRESS],
    ['a'.repeat(64), 'username=a', NO_ADDRESS],
    [`${'a.'.repeat(127)}a`, 'username=a', NO_ADDRESS],
    ['host', 'user=a', OTHER_VALUE],
    ['host', 'username=', OTHER_VALUE],
    ['host', 'username=a b', OTHER_VALUE],
  ];
  for (const [entry, value, outcome] of cases) {
    it(`accepts or rejects ${entry.slice(0, 30)}: ${JSON.stringify(value)}`, () => {
      const { addresses, malformed } = windowsInstancesIn({ [entry]: value });
      const isWrong = outcome === NO_ADDRESS || outcome === OTHER_VALUE;
      assert.deepEqual(
        [[...addresses], malformed],
        isWrong ? [[], [{ entry, message: outcome }]] : [[[outcome, entry]], []],
      );
    });
  }

  it('uses every valid entry, whatever the other entries are', () => {
    const good = fc.dictionary(fc.ipV4(), fc.constantFrom('', 'username=a'), { noNullPrototype: true });
    const any = fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true });
    fc.assert(
      fc.property(any, good, (others, hosts) => {
        const { addresses, malformed, hasUsernames } = windowsInstancesIn({ ...others, ...hosts });
        for (const host of Object.keys(hosts)) assert.equal(addresses.get(comparable(host)), host);
        assert.ok(addresses.size + malformed.length <= new Set([...Object.keys(others), ...Object.keys(hosts)]).size);
        assert.ok(hasUsernames || !Object.values(hosts).includes('username=a'));
      }),
    );
  });
});
