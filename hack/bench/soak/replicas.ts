/** The replicas of the operator during a soak test. Each has its own way to the API server and its own identity there and in AWS. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { PAUSED_WHILE_SENDING } from '../../../controllers/runtime/leaderElection.ts';
import type { CallEntry } from '../../../test/fakes/localaws/wire/callLog.ts';
import type { AuditEvent } from '../../../test/fakes/testenv/audit.ts';
import type { OperatorProcess } from '../../../test/fakes/testenv/operatorProcess.ts';
import type { TestEnv } from '../../../test/fakes/testenv/testEnv.ts';
import type { PauseReport } from './doubleWrites.ts';
import { FaultyProxy } from './faultyProxy.ts';

const NAMES = ['replica-a', 'replica-b'] as const;
/** Short intervals, so that a short soak test also has retries and polls. Leader election has its default times. */
const FLAGS = [
  '--poll-interval=1s',
  '--resync-interval=1m',
  '--retry-base=500ms',
  '--retry-max=10s',
  '--create-retry-interval=15s',
  '--max-pools-updating=5',
  '--workers=8',
];
/** Reports its memory to the folder HEAP_REPORTS. */
const NODE_FLAGS = ['--expose-gc', `--import=${fileURLToPath(new URL('heapReport.ts', import.meta.url))}`];
const CHECK_MS = 200;
/** After so many exits for other reasons the test stops. */
const MOST_EXITS = 10;
/** The API server authenticates a token of a ServiceAccount with the ID of the token: KEP-4193. */
const CREDENTIAL = 'authentication.kubernetes.io/credential-id';

/** One replica: a process that is started again when it exits, as by a kubelet. */
export class Replica {
  readonly name: string;
  readonly proxy: FaultyProxy;
  /** The ID of its token in the audit log. */
  readonly credential: string;
  readonly #start: () => OperatorProcess;
  process: OperatorProcess;

  constructor(name: string, proxy: FaultyProxy, credential: string, start: () => OperatorProcess) {
    this.name = name;
    this.proxy = proxy;
    this.credential = credential;
    this.#start = start;
    this.process = start();
  }

  /** Whether its process has become the leader. A process that loses the lease exits. */
  get leads(): boolean {
    return this.process.running && this.process.lines.some(({ msg }) => msg === 'became the leader');
  }

  restart(): void {
    this.process = this.#start();
  }
}

export class Replicas {
  readonly all: readonly Replica[];
  /** How often a process exited because it had lost the lease. */
  lostLeases = 0;
  readonly complaints: string[] = [];
  /** Of all processes that have exited. */
  readonly pauses: PauseReport[] = [];
  readonly #say: (line: string) => void;

  private constructor(all: readonly Replica[], say: (line: string) => void) {
    this.all = all;
    this.#say = say;
  }

  /** Starts two, and returns when both are ready. */
  static async start(world: TestEnv, say: (line: string) => void): Promise<Replicas> {
    const all: Replica[] = [];
    for (const name of NAMES) all.push(await startReplica(world, name));
    await Promise.all(all.map(({ process }) => process.ready()));
    return new Replicas(all, say);
  }

  get leader(): Replica | undefined {
    return this.all.find(({ leads }) => leads);
  }

  /** Starts processes again that exit, until the signal aborts. An exit for another reason than the loss of the lease is a complaint. */
  async keep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const replica of this.all) if (!replica.process.running) await this.#replace(replica);
      await sleep(CHECK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** The name of the replica that sent a request, by its token. */
  readonly ofEvent = ({ user: { extra = {} } }: AuditEvent): string | undefined =>
    this.all.find(({ credential }) => extra[CREDENTIAL]?.includes(credential))?.name;

  /** The name of the replica that made a call, by its user agent. */
  readonly ofCall = ({ userAgent }: Pick<CallEntry, 'userAgent'>): string | undefined =>
    this.all.find(({ name }) => userAgent.includes(name))?.name;

  /** Stops them. Complains about those that do not exit with 0. */
  async stop(): Promise<void> {
    await Promise.all(
      this.all.map(async ({ name, process, proxy }) => {
        const code = await process.stop();
        this.pauses.push(...pausesIn(name, process));
        if (code !== 0) this.complaints.push(`${name} ended with ${code} after SIGTERM:\n${process.tail()}`);
        await proxy.stop();
      }),
    );
  }

  async #replace(replica: Replica): Promise<void> {
    const { name, process } = replica;
    const code = await process.stop();
    this.pauses.push(...pausesIn(name, process));
    const isLost = code === 1 && process.tail().includes('LeadershipLost');
    if (isLost) this.lostLeases++;
    else this.complaints.push(`${name} exited with ${code}:\n${process.tail()}`);
    if (this.complaints.length >= MOST_EXITS) throw new Error(this.complaints.join('\n'));
    replica.restart();
    this.#say(`${name} ${isLost ? 'lost the lease' : `ended with ${code}`}, and was started again.`);
  }
}

function pausesIn(replica: string, { lines }: OperatorProcess): PauseReport[] {
  return lines
    .filter(({ msg }) => msg === PAUSED_WHILE_SENDING)
    .map(({ time, requests }) => ({ replica, at: Date.parse(String(time)), requests: Number(requests) }));
}

async function startReplica(world: TestEnv, name: string): Promise<Replica> {
  const proxy = await FaultyProxy.start(Number(new URL(world.controlPlane.url).port));
  // Each login is another token.
  await world.login();
  const kubeconfig = await proxiedKubeconfig(world, name, proxy);
  const credential = credentialOf(await readFile(kubeconfig, 'utf8'));
  const environment = { AWS_SDK_UA_APP_ID: name, HEAP_REPORTS: world.controlPlane.dir };
  const options = { credentials: kubeconfig, environment, nodeFlags: NODE_FLAGS };
  return new Replica(name, proxy, credential, () => world.operator(FLAGS, options));
}

/** Writes a copy of the operator's kubeconfig that leads through the proxy, and returns its path. */
export async function proxiedKubeconfig(world: TestEnv, name: string, proxy: FaultyProxy): Promise<string> {
  const { url, dir } = world.controlPlane;
  const path = join(dir, 'kubeconfig', `${name}.yaml`);
  const direct = await readFile(world.operatorKubeconfig, 'utf8');
  await writeFile(path, direct.replaceAll(url, `https://127.0.0.1:${proxy.port}`), { mode: 0o600 });
  return path;
}

/** The ID of the token in a kubeconfig as the audit log has it: `JTI=` and the claim of the token. */
function credentialOf(kubeconfig: string): string {
  const { users } = parse(kubeconfig) as { users: [{ user: { token: string } }] };
  const payload = Buffer.from(users[0].user.token.split('.')[1] ?? '', 'base64url').toString();
  return `JTI=${(JSON.parse(payload) as { jti: string }).jti}`;
}
