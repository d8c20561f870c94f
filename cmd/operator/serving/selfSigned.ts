/**
 * A self-signed certificate, in memory. Node creates keys and signatures but no certificates; packages that do (@peculiar/x509 with 20 others) need
 * 11 MB of memory for 15 nested values: https://www.rfc-editor.org/rfc/rfc5280#section-4.1, in DER.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A certificate with its key, as PEM texts. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
/** Longer than any process runs, so that nothing has to renew it. */
const VALID_DAYS = 3_650;
/** Tolerates clock skew. */
const BEFORE_DAYS = 1;

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  text: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  version: 0xa0,
  dnsName: 0x82,
  ipAddress: 0x87,
  extensions: 0xa3,
} as const;

/** Object identifiers by their DER content. */
const OID = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
  keyUsage: '551d0f',
  extKeyUsage: '551d25',
  serverAuth: '2b06010505070301',
} as const;

/**
 * A new key (ECDSA on P-256) and a server certificate for these DNS names and 127.0.0.1. Valid for ten years from a day before `now`, in epoch
 * milliseconds.
 */
export function selfSigned(names: readonly string[], now: number): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(TAG.sequence, oid('ecdsaWithSha256'));
  const name = der(
    TAG.sequence,
    der(TAG.set, der(TAG.sequence, oid('commonName'), der(TAG.text, Buffer.from('windowspool-operator')))),
  );
  const toBeSigned = der(
    TAG.sequence,
    der(TAG.version, der(TAG.integer, Buffer.of(2))),
    der(TAG.integer, serialNumber()),
    algorithm,
    name,
    der(TAG.sequence, time(now - BEFORE_DAYS * DAY_MS), time(now + VALID_DAYS * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(TAG.extensions, der(TAG.sequence, ...extensions(names))),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const certificate = der(TAG.sequence, toBeSigned, algorithm, der(TAG.bits, Buffer.of(0), signature));
  return { cert: pem(certificate), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

function extensions(names: readonly string[]): Buffer[] {
  const loopback = der(TAG.ipAddress, Buffer.of(127, 0, 0, 1));
  const dnsNames = names.map((name) => der(TAG.dnsName, Buffer.from(name, 'ascii')));
  const critical = der(TAG.boolean, Buffer.of(0xff));
  const extension = (kind: keyof typeof OID, value: Buffer, ...flags: Buffer[]) =>
    der(TAG.sequence, oid(kind), ...flags, der(TAG.octets, value));
  return [
    // Not a CA.
    extension('basicConstraints', der(TAG.sequence), critical),
    // digitalSignature, the first bit; the other seven are unused.
    extension('keyUsage', der(TAG.bits, Buffer.of(7, 0x80)), critical),
    extension('extKeyUsage', der(TAG.sequence, oid('serverAuth'))),
    extension('subjectAltName', der(TAG.sequence, ...dnsNames, loopback)),
  ];
}

/** The DER encoding: tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

function oid(name: keyof typeof OID): Buffer {
  return der(TAG.oid, Buffer.from(OID[name], 'hex'));
}

/** A positive number without leading zeros. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}

/** `20260301120000Z`, without the century before 2050: https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.5 */
function time(ms: number): Buffer {
  const text = `${new Date(ms)
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replaceAll(/[-:T]/g, '')}Z`;
  return Number(text.slice(0, 4)) < 2050
    ? der(TAG.utcTime, Buffer.from(text.slice(2)))
    : der(TAG.generalizedTime, Buffer.from(text));
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
