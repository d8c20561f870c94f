import assert from 'node:assert/strict';
import fc from 'fast-check';
import { foreignText } from '../windowspool/ports/foreignText.ts';
import { Interner } from './interner.ts';
import { MessageReader } from './messageReader.ts';

describe('the interner', () => {
  it('returns every string cut and cleaned, and otherwise unchanged, regardless of their number', () => {
    const interner = new Interner();
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 100, maxLength: 400 }));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 50, size: 'max' }), (texts) => {
        for (const one of [...texts, ...texts]) {
          const bytes = Buffer.from(`<${one}>`);
          const reader = new MessageReader(bytes, 1, bytes.length - 1);
          assert.equal(interner.text(reader), foreignText(Buffer.from(one).toString()));
        }
      }),
    );
  });

  it('never returns a known string for invalid UTF-8', () => {
    const interner = new Interner();
    const read = (bytes: Buffer): string => interner.text(new MessageReader(bytes));
    assert.equal(read(Buffer.from('ä')), 'ä');
    assert.equal(read(Buffer.from([0xe4])), '\ufffd');
    assert.equal(read(Buffer.from('ä')), 'ä');
  });

  it('reads a known string without allocating it', () => {
    const interner = new Interner();
    const bytes = Buffer.from('topology.kubernetes.io/zone');
    let made = 0;
    const reader = new MessageReader(bytes);
    reader.text = () => {
      made++;
      return bytes.toString();
    };
    for (let time = 0; time < 3; time++) assert.equal(interner.text(reader), 'topology.kubernetes.io/zone');
    assert.equal(made, 1);
  });

  it('keeps strings that repeat among thousands that do not', () => {
    const interner = new Interner();
    let made = 0;
    const common = (): string => {
      const reader = new MessageReader(Buffer.from('eu-west-1a'));
      reader.text = () => {
        made++;
        return 'eu-west-1a';
      };
      return interner.text(reader);
    };
    for (let index = 0; index < 50_000; index++) {
      common();
      interner.text(new MessageReader(Buffer.from(`ip-10-0-${index >> 8}-${index & 255}`)));
    }
    assert.equal(made, 1);
  });
});
