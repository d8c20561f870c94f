/** The parts of a dashboard's JSON that tests read. */

interface QueryJson {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat?: string;
  readonly instant?: boolean;
  readonly range?: boolean;
  readonly datasource: object;
}

export interface PanelJson {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly datasource: object;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig: { readonly defaults: { readonly unit?: string } };
  readonly links?: readonly { readonly url: string }[];
  readonly targets: readonly QueryJson[];
  readonly transformations?: readonly {
    readonly options: { readonly include?: { readonly names: readonly string[] } };
  }[];
}

export interface DashboardJson {
  readonly uid: string;
  readonly panels: readonly PanelJson[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query?: unknown }[] };
}

/** A dashboard from its text. */
export function parseDashboard(text: string): DashboardJson {
  return JSON.parse(text);
}

/** The panels without rows, which are only headings. */
export function panelsOf({ panels }: DashboardJson): readonly PanelJson[] {
  return panels.filter(({ type }) => type !== 'row');
}
