import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { runPlugin } from '../../cmd/kubectl-windowspool/program.ts';
import { recordedTerminal } from '../../cmd/kubectl-windowspool/testing/recordedTerminal.ts';
import { InvalidSize } from '../../controllers/windowspool/sizing/sizeRequest.ts';
import { answerTo, INITIAL_INPUTS, type Inputs, linesFor, mount } from './calculator.ts';
import type { SiteElement } from './dom.ts';

/** What `kubectl windowspool size` prints as JSON for these inputs. */
async function commandFor({ instanceType, mode, pods, cpu, memory, imageSize, subnetPrefix }: Inputs) {
  const flags = {
    'instance-type': instanceType,
    mode,
    pods,
    cpu,
    memory,
    'image-size': imageSize,
    'subnet-prefix': subnetPrefix,
  };
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const terminal = recordedTerminal();
  const signal = new AbortController().signal;
  assert.equal(await runPlugin(['size', ...args, '--output=json'], { terminal, version: '1', signal }), 0);
  const { sources: _, ...size } = JSON.parse(terminal.lines.join('\n'));
  return size;
}

describe('the calculator of the page about sizing', () => {
  const rows: readonly Partial<Inputs>[] = [
    {},
    { mode: 'prefix' },
    { mode: 'prefix', cpu: '', memory: '', pods: '500' },
    { instanceType: 'r7i.24xlarge', pods: '1000', memory: '6Gi', subnetPrefix: '/20' },
    { instanceType: 't3.medium', memory: '4Gi' },
    { instanceType: 'c5.xlarge', imageSize: '120Gi', cpu: '250m' },
    { instanceType: 'm8i.large', mode: 'prefix', subnetPrefix: '/28', pods: '' },
    { pods: '', imageSize: '' },
  ];
  for (const row of rows)
    it(`answers as the command: ${JSON.stringify(row)}`, async () => {
      const inputs = { ...INITIAL_INPUTS, ...row };
      assert.deepEqual(JSON.parse(JSON.stringify(answerTo(inputs))), await commandFor(inputs));
    });

  it('shows what limits the pods, the nodes, addresses, subnets, memory, disk and time', () => {
    const lines = Object.fromEntries(linesFor(INITIAL_INPUTS));
    assert.equal(lines['Pods per node'], '4, limited by CPU');
    assert.equal(lines.Nodes, '5, with 20 pods');
    assert.equal(lines['IP addresses'], '8 per node, 40 in all');
    assert.match(lines['Empty /24 subnets'] ?? '', /^1 \(251 IP addresses each, at most 31 nodes with pods\)$/);
    assert.match(lines.Memory ?? '', /^5644Mi for pods\. .*systemReserved/);
    assert.match(lines['Root volume'] ?? '', /^Use 100 GiB .*10 GiB of images/);
    assert.equal(lines['Replacement of all nodes, one by one'], '20 to 115 minutes');
  });

  it('names the field that it cannot use, and what to enter', () => {
    const wrong = { ...INITIAL_INPUTS, memory: '512' };
    assert.throws(
      () => linesFor(wrong),
      (error: Error) => {
        assert.ok(error instanceof InvalidSize);
        assert.match(error.message, /^Memory request of a pod "512" is invalid\. .*512Mi/);
        return true;
      },
    );
  });

  it('shows a form with labels and its result, and computes again with each input', () => {
    const host = new FakeElement('div');
    host.append(new FakeElement('p'));
    mount(host);
    const [form, result] = host.children;
    assert.deepEqual([form?.tag, result?.attributes.get('role')], ['form', 'status']);
    const controls = host.all('select').concat(host.all('input'));
    const labels = host.all('label').map(({ attributes }) => attributes.get('for'));
    assert.deepEqual(controls.map(({ attributes }) => attributes.get('id')).sort(), labels.sort());
    const text = () => result?.all('dd').map(({ textContent }) => textContent)[0];
    assert.equal(text(), '4, limited by CPU');
    const cpu = controls.find(({ attributes }) => attributes.get('id') === 'sizing-cpu');
    assert.ok(cpu && form);
    cpu.value = '2';
    form.dispatch('input');
    assert.equal(text(), '1, limited by CPU');
    cpu.value = 'many';
    form.dispatch('input');
    assert.match(result?.all('p')[0]?.textContent ?? '', /^CPU request of a pod "many" is invalid/);
  });

  it('is an ES module for browsers that imports nothing, and is small', async () => {
    const entry = fileURLToPath(new URL('calculator.ts', import.meta.url));
    const options = {
      bundle: true,
      format: 'esm',
      platform: 'browser',
      minify: true,
      write: false,
      metafile: true,
    } as const;
    const { outputFiles, metafile } = await build({ entryPoints: [entry], ...options });
    const [file] = outputFiles;
    assert.ok(file && file.contents.length < 40_000, `${file?.contents.length} bytes`);
    assert.deepEqual(
      Object.keys(metafile.inputs).filter((path) => /node_modules|^node:/.test(path)),
      [],
    );
    const bundled = await import(`data:text/javascript;base64,${Buffer.from(file.contents).toString('base64')}`);
    const host = new FakeElement('div');
    bundled.mount(host);
    assert.equal(host.all('dd')[0]?.textContent, '4, limited by CPU');
  });
});

/** An element in memory. */
class FakeElement implements SiteElement {
  readonly ownerDocument: SiteElement['ownerDocument'] = { createElement: (tag) => new FakeElement(tag) };
  readonly attributes = new Map<string, string>();
  children: FakeElement[] = [];
  textContent: string | null = '';
  value = '';
  readonly tag: string;
  readonly #listeners: { readonly type: string; readonly listener: Parameters<SiteElement['addEventListener']>[1] }[] =
    [];

  constructor(tag: string) {
    this.tag = tag;
  }

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }

  append(...children: SiteElement[]): void {
    this.children.push(...(children as FakeElement[]));
  }

  replaceChildren(...children: SiteElement[]): void {
    this.children = children as FakeElement[];
  }

  addEventListener(...[type, listener]: Parameters<SiteElement['addEventListener']>): void {
    this.#listeners.push({ type, listener });
  }

  dispatch(type: string): void {
    for (const each of this.#listeners) if (each.type === type) each.listener({ preventDefault: () => undefined });
  }

  all(tag: string): FakeElement[] {
    return this.children.flatMap((child) => [...(child.tag === tag ? [child] : []), ...child.all(tag)]);
  }
}
