/** The kinds of panels in the dashboards: each has a description with the question that it answers, and a unit. */
import * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import * as stats from '@grafana/grafana-foundation-sdk/stat';
import * as timelines from '@grafana/grafana-foundation-sdk/statetimeline';
import * as tables from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import { runbooks } from './alerts.ts';
import { besideTitle } from './links.ts';

/** The selected data source. */
export const DATASOURCE = { type: 'prometheus', uid: `\${datasource}` } as const;

export interface Query {
  readonly expr: string;
  /** Grafana's format of a series' name: `{{pool}}`. A table has none. */
  readonly legend?: string;
}

/** The text of every panel. */
export interface Question {
  readonly title: string;
  /** The question that the panel answers, and what to check next. */
  readonly asks: string;
  /** An ID of Grafana's units: https://grafana.com/docs/grafana/latest/panels-visualizations/configure-standard-options/#unit. Default: none. */
  readonly unit?: string;
  readonly queries: readonly Query[];
  /** The related alerts: the panel links their runbooks. */
  readonly alerts?: readonly string[];
  /** Of 24 columns. Default: 8. */
  readonly width?: number;
  /** In Grafana's grid of 30 pixels; all panels of a line have the same. */
  readonly height?: number;
}

/** A panel without position and ID. */
export interface PanelBuilder extends Builder<dashboard.Panel> {
  id(id: number): this;
}

/** Thresholds of colours; the first colour applies below all of them. */
export type Steps = readonly [base: string, ...(readonly [from: number, color: string])[]];

/** 0 is good, any other value is bad. */
export const NONE_IS_GOOD: Steps = ['green', [1, 'red']];

/** Colours of series by their names, so that a state has the same colour in every panel. */
export type Colors = Readonly<Record<string, string>>;

/** The current value, or one for each series. */
export function stat(question: Question, { steps, none = 'none', text }: StatLook): PanelBuilder {
  return dressed(new stats.PanelBuilder(), question, 'instant')
    .noValue(none)
    .mappings(text ? [valueMap(text)] : [])
    .thresholds(thresholds(steps))
    .reduceOptions(lastValue())
    .colorMode(common.BigValueColorMode.Background)
    .graphMode(common.BigValueGraphMode.None)
    .textMode(question.queries.length > 1 ? common.BigValueTextMode.ValueAndName : common.BigValueTextMode.Value);
}

interface StatLook {
  readonly steps: Steps;
  /** Shown without series. */
  readonly none?: string;
  /** Text instead of numbers. */
  readonly text?: Readonly<Record<string, { readonly text: string; readonly color: string }>>;
}

/** Lines over time; stacked if their sum is meaningful. */
export function graph(
  question: Question,
  { stacked = false, colors = {}, max }: { stacked?: boolean; colors?: Colors; max?: number } = {},
): PanelBuilder {
  const panel = dressed(new timeseries.PanelBuilder(), question, 'range')
    .min(0)
    .lineWidth(1)
    .fillOpacity(stacked ? 60 : 10)
    .showPoints(common.VisibilityMode.Never)
    .legend(
      new common.VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(common.LegendDisplayMode.Table)
        .placement(common.LegendPlacement.Bottom)
        .calcs(['lastNotNull', 'max']),
    )
    .tooltip(
      new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Multi).sort(common.SortOrder.Descending),
    );
  if (max !== undefined) panel.max(max);
  if (stacked) panel.stacking(new common.StackingConfigBuilder().mode(common.StackingMode.Normal).group('A'));
  for (const [name, color] of Object.entries(colors)) panel.overrideByName(name, [fixedColor(color)]);
  return panel;
}

/** A bar for the current value of each series. */
export function bars(question: Question, { steps, none = 'none' }: { steps: Steps; none?: string }): PanelBuilder {
  return dressed(new bargauge.PanelBuilder(), question, 'instant')
    .noValue(none)
    .min(0)
    .thresholds(thresholds(steps))
    .orientation(common.VizOrientation.Horizontal)
    .displayMode(common.BarGaugeDisplayMode.Basic)
    .reduceOptions(lastValue());
}

/** A column of a table: a label, or the value of a query (`Value`, or `Value #A` where there are several). */
export interface Column {
  readonly field: string;
  readonly title: string;
  readonly unit?: string;
  readonly steps?: Steps;
  readonly link?: { readonly title: string; readonly url: string };
}

/** A row for the current value of each series; series of several queries with the same labels are one row. */
export function table(question: Question, columns: readonly Column[], none = 'none'): PanelBuilder {
  const byField = <T>(value: (column: Column, index: number) => T) =>
    Object.fromEntries(columns.map((column, index) => [column.field, value(column, index)]));
  const panel = dressed(new tables.PanelBuilder(), question, 'table')
    .noValue(none)
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({
      id: 'filterFieldsByName',
      options: { include: { names: columns.map(({ field }) => field) } },
    })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: {},
        indexByName: byField((_, index) => index),
        renameByName: byField(({ title }) => title),
      },
    });
  for (const { title, unit, steps, link } of columns) {
    panel.overrideByName(title, [
      ...(unit ? [{ id: 'unit', value: unit }] : []),
      ...(steps
        ? [
            { id: 'thresholds', value: thresholds(steps).build() },
            { id: 'custom.cellOptions', value: { type: common.TableCellDisplayMode.ColorText } },
          ]
        : []),
      ...(link ? [{ id: 'links', value: [link] }] : []),
    ]);
  }
  return panel;
}

/** A timeline of states: a line for each series, coloured by its value. */
export function timeline(
  question: Question,
  text: Readonly<Record<string, { readonly text: string; readonly color: string }>>,
  exceptions: Readonly<
    Record<string, Readonly<Record<string, { readonly text: string; readonly color: string }>>>
  > = {},
): PanelBuilder {
  const panel = dressed(new timelines.PanelBuilder(), question, 'range')
    .mappings([valueMap(text)])
    .mergeValues(true)
    .showValue(common.VisibilityMode.Auto)
    .rowHeight(0.8)
    .legend(
      new common.VizLegendOptionsBuilder()
        .showLegend(false)
        .displayMode(common.LegendDisplayMode.Hidden)
        .placement(common.LegendPlacement.Bottom)
        .calcs([]),
    );
  for (const [name, other] of Object.entries(exceptions))
    panel.overrideByName(name, [{ id: 'mappings', value: [valueMap(other)] }]);
  return panel;
}

/** Shared by the builders of all kinds of panels. */
interface AnyPanel extends PanelBuilder {
  title(title: string): this;
  description(text: string): this;
  datasource(reference: common.DataSourceRef): this;
  unit(unit: string): this;
  span(columns: number): this;
  height(rows: number): this;
  links(links: Builder<dashboard.DashboardLink>[]): this;
  withTarget(target: Builder<Dataquery>): this;
}

/** Current values use an instant query: a range query would show the last value of a series that ended. */
function dressed<P extends AnyPanel>(panel: P, question: Question, as: 'instant' | 'range' | 'table'): P {
  panel
    .title(question.title)
    .description(question.asks)
    .datasource(DATASOURCE)
    .unit(question.unit ?? 'none')
    .span(question.width ?? 8)
    .height(question.height ?? 8)
    .links((question.alerts ?? []).map(runbookLink));
  for (const [index, { expr, legend }] of question.queries.entries()) {
    const query = new prometheus.DataqueryBuilder()
      .refId(String.fromCharCode('A'.charCodeAt(0) + index))
      .datasource(DATASOURCE)
      .editorMode(prometheus.QueryEditorMode.Code)
      .expr(expr)
      .format(as === 'table' ? prometheus.PromQueryFormat.Table : prometheus.PromQueryFormat.TimeSeries);
    if (legend !== undefined) query.legendFormat(legend);
    panel.withTarget(as === 'range' ? query.range() : query.instant());
  }
  return panel;
}

/** Throws if config/prometheus does not have the alert. */
function runbookLink(alert: string): Builder<dashboard.DashboardLink> {
  const url = runbooks[alert];
  if (url === undefined)
    throw new Error(`A panel names the alert ${alert}, which config/prometheus/rules.yaml does not have.`);
  return besideTitle(
    new dashboard.DashboardLinkBuilder(`Runbook: ${alert}`)
      .type(dashboard.DashboardLinkType.Link)
      .url(url)
      .targetBlank(true),
  );
}

function lastValue(): common.ReduceDataOptionsBuilder {
  return new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']);
}

function thresholds([base, ...steps]: Steps): dashboard.ThresholdsConfigBuilder {
  return new dashboard.ThresholdsConfigBuilder()
    .mode(dashboard.ThresholdsMode.Absolute)
    .steps([{ value: null, color: base }, ...steps.map(([value, color]) => ({ value, color }))]);
}

function valueMap(text: NonNullable<StatLook['text']>): dashboard.ValueMapping {
  return { type: dashboard.MappingType.ValueToText, options: text };
}

function fixedColor(color: string): dashboard.DynamicConfigValue {
  return { id: 'color', value: { mode: dashboard.FieldColorModeId.Fixed, fixedColor: color } };
}
