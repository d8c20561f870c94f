/**
 * Lazy imports work in the bundle: every chunk loads, and each lazily loaded one is called, as by the operator or its AWS clients. A lazy
 * import that nothing here calls fails the last test.
 */
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { bundle } from '../../hack/bundle.ts';
import { runCommand } from '../../hack/controlplane/command.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { nodeRoleArn } from '../fakes/localaws/network.ts';
import { type TestEnv, windowsIpam } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';
import { type CredentialServices, startCredentialServices } from './credentialServices.ts';

/** Lazy imports that the operator never calls, and why. They are loaded by the test of all chunks. */
const NEVER_CALLED = new Map([
  ['node_modules/bowser/bowser.mjs', 'reads the user agent of a browser'],
  ['node_modules/@smithy/core/dist-es/submodules/event-streams/index.js', 'no operation in use streams events'],
]);

/** A variant of the environment in which the SDK finds credentials: the service that must respond, and the variables. URL, HOME and NODE are replaced. */
interface Source {
  readonly answeredBy: string;
  readonly env: Readonly<Record<string, string>>;
}

const PROFILES = `
[profile environment]
role_arn = arn:aws:iam::111122223333:role/operator
credential_source = Environment
[profile container]
role_arn = arn:aws:iam::111122223333:role/operator
credential_source = EcsContainer
[profile instance]
role_arn = arn:aws:iam::111122223333:role/operator
credential_source = Ec2InstanceMetadata
[profile webidentity]
role_arn = arn:aws:iam::111122223333:role/operator
web_identity_token_file = HOME/token
[profile process]
credential_process = NODE HOME/process.mjs
[profile sso]
sso_session = people
sso_account_id = 111122223333
sso_role_name = operator
[sso-session people]
sso_region = eu-west-1
sso_start_url = https://people.example.com/start
[profile login]
login_session = arn:aws:iam::111122223333:user/admin
region = eu-west-1
`;

const SOURCES: Readonly<Record<string, Source>> = {
  'IAM roles for service accounts': {
    answeredBy: 'AssumeRoleWithWebIdentity',
    env: { AWS_ROLE_ARN: 'arn:aws:iam::111122223333:role/operator', AWS_WEB_IDENTITY_TOKEN_FILE: 'HOME/token' },
  },
  'EKS Pod Identity': {
    answeredBy: 'PodIdentity',
    env: {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: 'URL/pod-identity',
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: 'HOME/token',
    },
  },
  'the role of the instance': { answeredBy: 'InstanceMetadata', env: { AWS_EC2_METADATA_SERVICE_ENDPOINT: 'URL' } },
  'a profile that assumes a role with keys of the environment': {
    answeredBy: 'AssumeRole',
    env: { AWS_PROFILE: 'environment', AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' },
  },
  'a profile that assumes a role with those of a container': {
    answeredBy: 'AssumeRole',
    env: { AWS_PROFILE: 'container', AWS_CONTAINER_CREDENTIALS_FULL_URI: 'URL/pod-identity' },
  },
  'a profile that assumes a role with those of the instance': {
    answeredBy: 'AssumeRole',
    env: { AWS_PROFILE: 'instance', AWS_EC2_METADATA_SERVICE_ENDPOINT: 'URL' },
  },
  'a profile with a web identity': { answeredBy: 'AssumeRoleWithWebIdentity', env: { AWS_PROFILE: 'webidentity' } },
  'a profile with a process': { answeredBy: 'Process', env: { AWS_PROFILE: 'process' } },
  'a profile of IAM Identity Center whose token is renewed': {
    answeredBy: 'IdentityCenter',
    env: { AWS_PROFILE: 'sso' },
  },
  'a profile of aws login whose token is renewed': { answeredBy: 'SignIn', env: { AWS_PROFILE: 'login' } },
};

describe('lazy imports in the bundle', function () {
  this.timeout(120_000);
  /** Chunks by the lazily loaded module, a path from the root of the project. */
  const lazy = new Map<string, string>();
  /** Names of the chunks that were loaded during the calls. */
  const loaded = new Set<string>();
  let folder: string;
  let services: CredentialServices;
  const built = () => join(folder, 'bundle');
  const home = () => join(folder, 'home');
  const recorder = (name: string) => join(folder, `${name}.mjs`);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-lazy-'));
    for (const { file, source } of await bundle('cmd/operator/main.ts', 'operator', built()))
      if (source !== undefined && source !== 'cmd/operator/main.ts') lazy.set(source, basename(file));
    services = await startCredentialServices();
    await furnishHome(home());
  });
  after(async () => {
    await services?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Returns the flag that makes Node record each chunk that it loads, and a function that reads the record. */
  async function recording(name: string): Promise<{ flag: string; read: () => Promise<void> }> {
    const log = join(folder, `${name}.log`);
    await writeFile(
      recorder(name),
      `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(log)}, url + '\\n'); return next(url, context); } });`,
    );
    const read = async () => {
      for (const url of (await readFile(log, 'utf8')).split('\n')) loaded.add(basename(url));
    };
    return { flag: `--import=${recorder(name)}`, read };
  }

  it('load from the bundle: every chunk loads without installed packages', async () => {
    const chunks = (await readdir(built())).filter((name) => name.endsWith('.mjs') && name !== 'operator.mjs');
    assert.ok(chunks.length >= lazy.size);
    const script = `for (const name of ${JSON.stringify(chunks)}) await import(${JSON.stringify(built())} + '/' + name).catch((error) => {
      console.log(name, error.message);
    });`;
    const { stdout, stderr, code } = await runNode(['--input-type=module', '--eval', script], {});
    assert.deepEqual({ stdout, stderr, code }, { stdout: '', stderr: '', code: 0 });
  });

  for (const [index, [name, { answeredBy, env }]] of Object.entries(SOURCES).entries()) {
    it(`find the credentials of ${name}`, async () => {
      const { flag, read } = await recording(`source-${index}`);
      const client = join(built(), lazy.get('controllers/aws/ec2Client.ts') ?? '');
      const script = `import { EC2Client } from ${JSON.stringify(client)};
console.log((await new EC2Client({ region: 'eu-west-1' }).config.credentials()).accessKeyId);`;
      const { stdout, stderr } = await runNode([flag, '--input-type=module', '--eval', script], {
        AWS_CONFIG_FILE: join(home(), 'config'),
        AWS_ENDPOINT_URL_STS: services.url,
        AWS_ENDPOINT_URL_SSO: services.url,
        AWS_ENDPOINT_URL_SSO_OIDC: services.url,
        AWS_ENDPOINT_URL_SIGNIN: services.url,
        AWS_REGION: 'eu-west-1',
        ...Object.fromEntries(
          Object.entries(env).map(([key, value]) => [key, value.replace('URL', services.url).replace('HOME', home())]),
        ),
      });
      assert.equal(stdout, `${answeredBy}\n`, `${stderr}\nNot answered: ${services.unknown.join(', ')}`);
      await read();
    });
  }

  it('are called by an operator in a cluster with only aws-auth, with the ServiceAccount of a pod and with a kubeconfig', async () => {
    const world = await theWorld();
    const restore = await awsAuthAlone(world);
    try {
      for (const [name, credentials] of [
        ['pod', await world.podCredentials()],
        ['kubeconfig', world.operatorKubeconfig],
      ] as const) {
        const { flag, read } = await recording(name);
        const operator = world.operator(['--leader-elect=false'], {
          entry: join(built(), 'operator.mjs'),
          nodeFlags: [flag],
          credentials,
        });
        try {
          await operator.ready();
          await refuseScript(world, `script-${name}`);
          await bringUpAndReplace(world, `lazy-${name}`);
        } finally {
          // If it kept running, the next suite would have two operators.
          await world.kubectl('delete', 'windowspools', '--all', '--timeout=30s').catch(() => undefined);
          assert.equal(await operator.stop(), 0);
        }
        assert.deepEqual(operator.otherLines, []);
        await read();
      }
    } finally {
      await restore();
    }
  });

  it('were all called: one that is listed here needs a call above, or a reason in NEVER_CALLED', () => {
    const uncalled = [...lazy].filter(([, chunk]) => !loaded.has(chunk)).map(([source]) => source);
    assert.deepEqual(uncalled.sort(), [...NEVER_CALLED.keys()].sort());
  });

  /** Runs Node in a folder without packages, as in the image, with only these variables. */
  function runNode(args: readonly string[], env: Readonly<Record<string, string>>) {
    return runCommand(process.execPath, args, { cwd: folder, env: { HOME: home(), ...env }, timeoutMs: 60_000 });
  }
});

/** Creates what the profiles refer to: a token, a process, and sessions that are about to expire. */
async function furnishHome(home: string): Promise<void> {
  const expired = new Date(Date.now() - 60_000).toISOString();
  const sha = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const files = {
    config: PROFILES.replaceAll('HOME', home).replaceAll('NODE', process.execPath),
    token: 'token',
    'process.mjs': `console.log(JSON.stringify({ Version: 1, AccessKeyId: 'Process', SecretAccessKey: 'secret' }))`,
    [`.aws/sso/cache/${sha('sha1', 'people')}.json`]: JSON.stringify({
      accessToken: 'old',
      expiresAt: expired,
      clientId: 'id',
      clientSecret: 'secret',
      refreshToken: 'refresh',
    }),
    [`.aws/login/cache/${sha('sha256', 'arn:aws:iam::111122223333:user/admin')}.json`]: JSON.stringify({
      accessToken: { accessKeyId: 'old', secretAccessKey: 'old', accountId: '111122223333', expiresAt: expired },
      clientId: 'id',
      refreshToken: 'refresh',
      dpopKey: privateKey.export({ format: 'pem', type: 'sec1' }),
    }),
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  }
}

/** Changes the cluster to one without access entries, and with a vpc-cni add-on that is configured in YAML; returns a function that undoes it. */
async function awsAuthAlone(world: TestEnv): Promise<() => Promise<void>> {
  world.cloud.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
  world.cloud.faults.addon({ name: 'vpc-cni', configurationValues: 'enableWindowsIpam: "true" # for web\n' });
  const groups = ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'];
  await world.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'kube-system', name: 'aws-auth' },
    data: { mapRoles: `- rolearn: ${nodeRoleArn}\n  groups: [${groups.join(', ')}]\n` },
  });
  return async () => {
    world.cloud.faults.cluster({ authenticationMode: 'API_AND_CONFIG_MAP' });
    world.cloud.faults.addon({ name: 'vpc-cni', exists: false });
    await world.apply(windowsIpam(true));
    await world.kubectl('delete', 'configmap', 'aws-auth', '-n', 'kube-system');
  };
}

/** Creates a pool with a script that is refused only after the grammar of PowerShell has found `exit` in it. */
async function refuseScript(world: TestEnv, name: string): Promise<void> {
  await world.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'winpool-system', name },
    data: { 'user-data.ps1': 'exit 1' },
  });
  await world.apply(poolManifest(name, { nodeGroup: { userData: { configMap: name } } }));
  await world.waitForConditions(name, 'PrerequisitesMet=False/UserDataInvalid');
  await world.kubectl('delete', 'windowspool', name, '--timeout=30s');
  await world.kubectl('delete', 'configmap', name, '-n', 'winpool-system');
}

/** Creates a pool and replaces a node, which needs every AWS client: SSM for the latest release, EC2 and Auto Scaling for the node. */
async function bringUpAndReplace(world: TestEnv, name: string): Promise<void> {
  await world.apply(poolManifest(name, { nodeGroup: { update: { policy: 'Automatic' } } }));
  await world.waitForReady(name);
  const [before = ''] = await world.nodeNamesOf(name);
  await world.kubectl('annotate', 'node', before, 'winpool.dev/replace=true');
  await waitFor(async () => !(await world.nodeNamesOf(name)).includes(before), {
    what: `node ${before} to be replaced`,
    explain: () => world.operators.at(-1)?.tail() ?? '',
  });
}
