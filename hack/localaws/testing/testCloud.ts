import { type LocalAws, type LocalAwsOptions, startLocalAws } from '../localAws.ts';
import { type SdkClients, sdkClients } from '../wire/sdkClients.ts';
import { openPolicy, sampleCluster } from './fixtures.ts';

/** A local AWS over HTTP with the SDK's clients for it. */
export interface LocalAwsFixture {
  readonly cloud: LocalAws;
  readonly sdk: SdkClients;
}

/** Runs a local AWS whose policy allows everything during the suite that calls this; the stage is filled when its tests run. */
export function withOpenCloud(options: Partial<LocalAwsOptions> = {}): LocalAwsFixture {
  const stage = {} as { cloud: LocalAws; sdk: SdkClients };
  before(async () => {
    stage.cloud = await startLocalAws({ cluster: sampleCluster, policy: openPolicy, ...options });
    stage.sdk = sdkClients(stage.cloud.url, sampleCluster.region);
  });
  after(async () => {
    stage.sdk?.destroy();
    await stage.cloud?.stop();
  });
  return stage;
}
