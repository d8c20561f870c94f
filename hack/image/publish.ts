/** Copies the image to a registry, and signs what is in one. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runOrThrow } from './run.ts';

const TIMEOUT_MS = 300_000;

export interface RegistryOptions {
  /** For a registry on loopback, which has no certificate. */
  readonly plainHttp?: boolean;
}

/** Copies an OCI archive with the images of all architectures to `reference`, a repository with a tag. Returns their digest, which does not change. */
export async function pushImage(
  archive: string,
  reference: string,
  { plainHttp = false }: RegistryOptions = {},
): Promise<string> {
  const digestFile = `${archive}.digest`;
  const options = ['--all', '--preserve-digests', `--digestfile=${digestFile}`, `--dest-tls-verify=${!plainHttp}`];
  try {
    await runOrThrow(
      'skopeo',
      ['--insecure-policy', 'copy', ...options, `oci-archive:${archive}`, `docker://${reference}`],
      TIMEOUT_MS,
    );
    return await readFile(digestFile, 'utf8');
  } finally {
    await rm(digestFile, { force: true });
  }
}

/** cosign with a key of its own, without the public services of Sigstore. */
export class KeySigner {
  readonly #cosign: string;
  readonly #folder: string;
  readonly #options: readonly string[];

  private constructor(cosign: string, folder: string, options: readonly string[]) {
    this.#cosign = cosign;
    this.#folder = folder;
    this.#options = options;
  }

  /** Creates a key without a password in an empty folder. `cosign` is the path of the program. */
  static async create(cosign: string, folder: string, { plainHttp = false }: RegistryOptions = {}): Promise<KeySigner> {
    const signer = new KeySigner(cosign, folder, plainHttp ? ['--allow-http-registry'] : []);
    await signer.#run('generate-key-pair', `--output-key-prefix=${join(folder, 'cosign')}`);
    return signer;
  }

  /** Signs what `reference` names by its digest: an image, the index of several, or a chart. */
  async sign(reference: string): Promise<void> {
    await this.#run('sign', ...this.#withKey(), ...this.#options, reference);
  }

  /** Signs a statement about an image: `predicate` is a file of the type, such as an SBOM. */
  async attest(reference: string, type: 'cyclonedx' | 'spdxjson', predicate: string): Promise<void> {
    await this.#run(
      'attest',
      ...this.#withKey(),
      ...this.#options,
      `--type=${type}`,
      `--predicate=${predicate}`,
      reference,
    );
  }

  /** Throws unless it was signed with this key. */
  async verify(reference: string): Promise<void> {
    await this.#run(
      'verify',
      `--key=${this.#folder}/cosign.pub`,
      '--private-infrastructure',
      ...this.#options,
      reference,
    );
  }

  /** Throws unless a statement of this type was signed with this key. Returns the statement's predicate. */
  async verifyAttestation(reference: string, type: 'cyclonedx' | 'spdxjson'): Promise<unknown> {
    const key = [`--key=${this.#folder}/cosign.pub`, '--private-infrastructure', `--type=${type}`];
    const [line = ''] = (await this.#run('verify-attestation', ...key, ...this.#options, reference)).split('\n');
    return JSON.parse(Buffer.from(JSON.parse(line).payload, 'base64').toString()).predicate;
  }

  #withKey(): readonly string[] {
    return [`--key=${this.#folder}/cosign.key`, '--tlog-upload=false', '--use-signing-config=false', '--yes'];
  }

  #run(...args: readonly string[]): Promise<string> {
    const env = { COSIGN_PASSWORD: '', HOME: this.#folder };
    return runOrThrow(this.#cosign, args, TIMEOUT_MS, env);
  }
}
