/** The links of panels. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { type DashboardLink, DashboardLinkBuilder, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';

/** IDs of the dashboards, which are part of their URLs. */
export const FLEET = 'windowspool-fleet';
export const CLUSTER = 'windowspool-cluster';
export const POOL = 'windowspool-pool';

/** The variables of the dashboards of a cluster and of a pool. The pool is not one of them: one dashboard shows all, the other exactly one. */
const SAME_PLACE = ['datasource', 'cluster', 'namespace'].map((name) => `\${${name}:queryparam}`).join('&');

/** From one dashboard to another, of the same cluster and time. */
export function toDashboard(title: string, uid: string): Builder<DashboardLink> {
  return besideTitle(
    new DashboardLinkBuilder(title).type(DashboardLinkType.Link).url(`/d/${uid}?${SAME_PLACE}`).keepTime(true),
  );
}

/** From the name of a pool in a cell to its dashboard, with the same cluster and time. */
export const TO_POOL = {
  title: 'Open this pool',
  url: `/d/${POOL}?var-pool=\${__value.text}&${SAME_PLACE}&\${__url_time_range}`,
} as const;

/** The data source and the time: the dashboard of the fleet has several clusters, and no namespace. */
const OF_FLEET = ['datasource:queryparam', '__url_time_range'].map((name) => `\${${name}}`).join('&');

/** To or from the dashboard of all clusters. */
export function toOtherScope(title: string, uid: string): Builder<DashboardLink> {
  return besideTitle(
    new DashboardLinkBuilder(title)
      .type(DashboardLinkType.Link)
      .url(`/d/${uid}?\${datasource:queryparam}`)
      .keepTime(true),
  );
}

/** From the name of a cluster in a cell to its dashboard. */
export const TO_CLUSTER = {
  title: 'Open this cluster',
  url: `/d/${CLUSTER}?var-cluster=\${__value.text}&${OF_FLEET}`,
} as const;

/** From the name of a pool in a row with its cluster to its dashboard. */
export const TO_POOL_OF_CLUSTER = {
  title: 'Open this pool',
  url: `/d/${POOL}?var-cluster=\${__data.fields.Cluster}&var-pool=\${__value.text}&${OF_FLEET}`,
} as const;

/** The link next to the title: the SDK (0.0.21) only supports links in the menu of the controls. */
export function besideTitle(link: Builder<DashboardLink>): Builder<DashboardLink> {
  return {
    build: () => {
      const { placement: _menu, ...shown } = link.build();
      return shown;
    },
  };
}
