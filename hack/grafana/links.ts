/** The links of panels. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { type DashboardLink, DashboardLinkBuilder, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';

/** IDs of the dashboards, which are part of their URLs. */
export const FLEET = 'windowspool-fleet';
export const POOL = 'windowspool-pool';

/** The variables of both dashboards. The pool is not one of them: one dashboard shows all, the other exactly one. */
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

/** The link next to the title: the SDK (0.0.21) only supports links in the menu of the controls. */
export function besideTitle(link: Builder<DashboardLink>): Builder<DashboardLink> {
  return {
    build: () => {
      const { placement: _menu, ...shown } = link.build();
      return shown;
    },
  };
}
