import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cloud, startCloud } from './cloud.ts';
import { sampleCluster } from './fixtures.ts';
import { type SdkClients, sdkClients } from './sdkClients.ts';

/** A local AWS over HTTP with the SDK's clients for it. */
export interface CloudStage {
  readonly cloud: Cloud;
  readonly sdk: SdkClients;
}

/** Runs a local AWS whose policy allows everything during the suite that calls this; the stage is filled when its tests run. */
export function withOpenCloud(): CloudStage {
  const stage = {} as { cloud: Cloud; sdk: SdkClients };
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cloud-'));
    const policy = join(folder, 'policy.json');
    await writeFile(policy, '{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}');
    stage.cloud = await startCloud({ cluster: sampleCluster, policy });
    stage.sdk = sdkClients(stage.cloud.url, sampleCluster.region);
  });
  after(async () => {
    stage.sdk?.destroy();
    await stage.cloud?.stop();
    await rm(folder, { recursive: true });
  });
  return stage;
}
