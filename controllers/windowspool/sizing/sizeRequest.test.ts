import assert from 'node:assert/strict';
import fc from 'fast-check';
import { INSTANCE_TYPES } from './instanceTypes.ts';
import { sizeOf } from './size.ts';
import { InvalidSize, readSizeRequest, type SizeTexts } from './sizeRequest.ts';

const nameOf = (input: string) => `<${input}>`;
const M5: SizeTexts = { instanceType: ['m5.large'] };

describe('what to size', () => {
  it('is read from texts', () => {
    const { types, ...rest } = readSizeRequest(
      {
        instanceType: ['m5.large,m6i.xlarge', ' m5.large '],
        mode: 'prefix',
        nodes: '3',
        pods: '40',
        cpu: '250m',
        memory: '1Gi',
        reservedMemory: '3Gi',
        maxPods: '250',
        subnetPrefix: '24',
        imageSize: ['5Gi', '512Mi'],
      },
      nameOf,
    );
    assert.deepEqual(
      types.map(({ name }) => name),
      ['m5.large', 'm6i.xlarge'],
    );
    assert.deepEqual(rest, {
      mode: 'prefix',
      nodes: 3,
      pods: 40,
      cpu: 0.25,
      memoryMiB: 1024,
      reservedMiB: 3072,
      maxPods: 250,
      subnetPrefix: 24,
      imagesGiB: 5.5,
    });
  });

  it('has defaults for what is absent or empty', () => {
    const defaults = { mode: 'secondary', reservedMiB: 2048, maxPods: 110, imagesGiB: 0 };
    const { types: _, ...absent } = readSizeRequest(M5, nameOf);
    assert.deepEqual(absent, defaults);
    const empty = { mode: '', nodes: '', pods: '', cpu: '', memory: '', reservedMemory: '', subnetPrefix: '' };
    const { types: __, ...rest } = readSizeRequest({ ...M5, ...empty, imageSize: [''] }, nameOf);
    assert.deepEqual(rest, defaults);
  });

  it('can be another instance type, or other facts of a known one', () => {
    const facts = { addressesPerInterface: '50', vcpus: '64', instanceMemory: '1024Gi' };
    const [other] = readSizeRequest({ instanceType: ['x2idn.16xlarge'], ...facts }, nameOf).types;
    const wanted = { vCpus: 64, memoryMiB: 1_048_576, addressesPerInterface: 50, isNitro: true };
    assert.deepEqual(other, { name: 'x2idn.16xlarge', architectures: ['x86_64'], ...wanted });
    const [known] = readSizeRequest({ ...M5, vcpus: '1' }, nameOf).types;
    assert.deepEqual([known?.vCpus, known?.addressesPerInterface], [1, 10]);
  });

  const errors: readonly [what: string, texts: SizeTexts, ...mentions: string[]][] = [
    ['no instance type', {}, '<instanceType>', 'm5.large'],
    ['an empty one', { instanceType: ['m5.large,'] }, '<instanceType>', 'required'],
    [
      'a type that is not known',
      { instanceType: ['m5.larg'] },
      '"m5.larg"',
      'm5.large?',
      '<vcpus>',
      'aws ec2 describe',
    ],
    ['a type with a part of its facts', { instanceType: ['x'], vcpus: '2' }, '"x"', '<addressesPerInterface>'],
    ['a type that is no word of a shell', { instanceType: ['$(x)'] }, '"$(x)"', '--instance-types TYPE '],
    ['facts of several types', { instanceType: ['a', 'b'], vcpus: '2' }, '<vcpus>', '2', '<instanceType>'],
    [
      'a type without addresses for pods',
      { instanceType: ['x'], vcpus: '2', addressesPerInterface: '1', instanceMemory: '8Gi' },
      '<instanceType>',
      'no IP addresses for pods',
    ],
    ['another mode', { ...M5, mode: 'ipv6' }, '<mode> "ipv6"', 'secondary or prefix'],
    ['half a node', { ...M5, nodes: '0.5' }, '<nodes> "0.5"', 'integer from 1'],
    ['no pods', { ...M5, pods: '0' }, '<pods> "0"', 'integer from 1'],
    ['too many pods of a node', { ...M5, maxPods: '251' }, '<maxPods> "251"', '250'],
    ['CPU in words', { ...M5, cpu: 'half' }, '<cpu> "half"', '500m'],
    ['CPU below the least of Kubernetes', { ...M5, cpu: '0' }, '<cpu> "0"', '500m'],
    ['memory without a unit', { ...M5, memory: '512' }, '<memory> "512"', '512Mi'],
    ['a negative reservation', { ...M5, reservedMemory: '-1Gi' }, '<reservedMemory> "-1Gi"', '2Gi'],
    ['the memory of an instance in MiB', { ...M5, instanceMemory: '8192' }, '<instanceMemory> "8192"', '8192Mi'],
    ['a subnet that is too small', { ...M5, subnetPrefix: '/29' }, '<subnetPrefix> "/29"', '/16', '/28'],
    ['a subnet that is too large', { ...M5, subnetPrefix: '/8' }, '<subnetPrefix> "/8"', '/16'],
    ['a CIDR block', { ...M5, subnetPrefix: '10.0.0.0/24' }, '<subnetPrefix> "10.0.0.0/24"'],
    ['an image without a size', { ...M5, imageSize: ['5Gi', 'large'] }, '<imageSize> "large"', '5Gi'],
    ['an image that no volume can have', { ...M5, imageSize: ['1Pi'] }, '<imageSize> "1Pi"'],
  ];
  for (const [what, texts, ...mentions] of errors)
    it(`is not ${what}, and the error says what to enter`, () =>
      assert.throws(
        () => readSizeRequest(texts, nameOf),
        (error: Error) => {
          assert.ok(error instanceof InvalidSize);
          for (const mention of mentions) assert.ok(error.message.includes(mention), `${mention}: ${error.message}`);
          return true;
        },
      ));

  it('has a size or an error that names the input, whatever the texts are', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('1', '24', '/24', '500m', '2Gi', 'prefix', '1e3', '-1', 'NaN'));
    const type = fc.oneof(fc.string(), fc.constantFrom(...INSTANCE_TYPES.map(({ name }) => name)));
    const inputs = ['mode', 'nodes', 'pods', 'cpu', 'memory', 'reservedMemory', 'maxPods', 'subnetPrefix', 'vcpus'];
    const texts = fc.record(
      {
        instanceType: fc.array(type, { maxLength: 3 }),
        imageSize: fc.array(text, { maxLength: 2 }),
        ...Object.fromEntries(inputs.map((input) => [input, text])),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(texts, (some) => {
        try {
          const { types } = sizeOf(readSizeRequest(some as SizeTexts, nameOf));
          for (const { podsPerNode, pods } of types) assert.ok(Number.isInteger(podsPerNode) && Number.isInteger(pods));
        } catch (error) {
          assert.ok(error instanceof InvalidSize, String(error));
          assert.match(error.message, /<\w+>.*\./s);
        }
      }),
    );
  });
});
