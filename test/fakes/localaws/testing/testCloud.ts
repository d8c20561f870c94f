import { type LocalAws, type LocalAwsOptions, startLocalAws } from '../localAws.ts';
import { type SdkClients, sdkClients } from '../wire/sdkClients.ts';
import { openPolicy, sampleCluster } from './fixtures.ts';

/** A local AWS over HTTP with the SDK's clients for it. */
export interface LocalAwsFixture {
  readonly cloud: LocalAws;
  readonly sdk: SdkClients;
}

/** Runs a local AWS whose policy allows everything during the suite that calls this; the fixture is filled when its tests run. */
export function withOpenCloud(options: Partial<LocalAwsOptions> = {}): LocalAwsFixture {
  const fixture = {} as { cloud: LocalAws; sdk: SdkClients };
  before(async () => {
    fixture.cloud = await startLocalAws({ cluster: sampleCluster, policy: openPolicy, ...options });
    fixture.sdk = sdkClients(fixture.cloud.url, sampleCluster.region);
  });
  after(async () => {
    fixture.sdk?.destroy();
    await fixture.cloud?.stop();
  });
  return fixture;
}
