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
  /** Of a row: whether it is collapsed, and then its panels. */
  readonly collapsed?: boolean;
  readonly panels?: readonly PanelJson[];
  readonly transformations?: readonly {
    readonly options: { readonly include?: { readonly names: readonly string[] } };
  }[];
}

export interface DashboardJson {
  readonly uid: string;
  readonly refresh: string;
  readonly panels: readonly PanelJson[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query?: unknown }[] };
}

/** A dashboard from its text. */
export function parseDashboard(text: string): DashboardJson {
  return JSON.parse(text);
}

/** The panels below each heading, in their order: those of a collapsed row are part of it. */
export function rowsOf({
  panels,
}: Pick<DashboardJson, 'panels'>): readonly (readonly [string, readonly PanelJson[]])[] {
  const rows: [string, PanelJson[]][] = [];
  for (const panel of panels) {
    if (panel.type === 'row') rows.push([panel.title, [...(panel.panels ?? [])]]);
    else rows.at(-1)?.[1].push(panel);
  }
  return rows;
}

/** The panels without rows, which are only headings. */
export function panelsOf(board: DashboardJson): readonly PanelJson[] {
  return rowsOf(board).flatMap(([, panels]) => panels);
}
