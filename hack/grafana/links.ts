/** Where a reader goes from a panel. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { type DashboardLink, DashboardLinkBuilder, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';

/** Ids of the dashboards, which make their addresses. */
export const FLEET = 'windowspool-fleet';
export const POOL = 'windowspool-pool';

/** The variables that both dashboards have. The pool is not one: one dashboard shows all, the other exactly one. */
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

/** The link beside the title: the SDK (0.0.21) puts every link into the menu of the controls, and offers nothing else. */
export function besideTitle(link: Builder<DashboardLink>): Builder<DashboardLink> {
  return {
    build: () => {
      const { placement: _menu, ...shown } = link.build();
      return shown;
    },
  };
}
