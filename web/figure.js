// Figures: ECharts in the page's colours, with a bar of controls, zoom, and export as SVG and CSV.
import * as echarts from "echarts/core";
import { BarChart, HeatmapChart, LineChart } from "echarts/charts";
import {
  AriaComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
  VisualMapComponent,
} from "echarts/components";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";
import { css, csv, el, save, slug } from "./dom.js";

echarts.use([
  BarChart,
  HeatmapChart,
  LineChart,
  AriaComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
  VisualMapComponent,
  SVGRenderer,
  CanvasRenderer,
]);

// Okabe and Ito's palette, which people with any colour vision can tell apart; black becomes grey on either ground.
export const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#8A8F98"];
export const color = (i) => PALETTE[i % PALETTE.length];
// One hue from light to dark (and the reverse on a dark ground): order is readable without colour.
export const heat = () =>
  isDark()
    ? ["#17202a", "#1d4a6b", "#2f7fb0", "#7cc0e8", "#e2f3ff"]
    : ["#f4f8fb", "#bcd9ec", "#6aaed6", "#2573ad", "#08306b"];

export function isDark() {
  const t = document.documentElement.dataset.theme;
  return t ? t === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

const all = new Set();
export function redrawAll() {
  for (const f of all) f.draw();
}
addEventListener("resize", () => all.forEach((f) => f.resize()));

export const axisStyle = () => ({
  axisLabel: { color: css("--text") },
  nameTextStyle: { color: css("--soft") },
  axisLine: { lineStyle: { color: css("--line") } },
  axisTick: { lineStyle: { color: css("--line") } },
  splitLine: { lineStyle: { color: css("--line") } },
});

export function tooltipStyle() {
  return {
    backgroundColor: css("--panel"),
    borderColor: css("--line"),
    textStyle: { color: css("--text"), fontSize: 13 },
    confine: true,
  };
}

// `spec.option()` gives the ECharts option, `spec.rows()` the data as rows of a CSV; null: nothing to show. renderer
// canvas: for figures of many cells; their SVG is drawn on demand.
export function figure(parent, spec) {
  const box = el("div", {
    className: "chart",
    role: "img",
    tabIndex: 0,
    "aria-label": spec.label,
    style: `height:${spec.height ?? 320}px`,
  });
  const exports = el("span", { className: "exports" });
  const head = el("div", { className: "controls" }, ...(spec.controls ?? []), exports);
  const note = el("p", { className: "note" });
  const root = el("figure", {}, head, box, note);
  parent.append(root);
  let chart;
  const f = {
    root,
    note,
    draw() {
      const o = spec.option();
      box.hidden = !o;
      if (!o) return;
      if (spec.size) box.style.height = `${spec.size()}px`;
      if (!box.clientWidth) return;
      chart ??= echarts.init(box, null, { renderer: spec.renderer ?? "svg" });
      chart.resize();
      if (spec.group) ((chart.group = spec.group), echarts.connect(spec.group));
      chart.setOption(
        {
          animation: false,
          textStyle: { color: css("--text"), fontFamily: "system-ui, sans-serif" },
          aria: { enabled: false },
          ...o,
        },
        true,
      );
      box.setAttribute("aria-label", spec.describe?.() ?? spec.label);
    },
    resize() {
      if (chart && box.clientWidth) chart.resize();
    },
    chart: () => chart,
    svg() {
      const w = Math.max(box.clientWidth, 640),
        h = box.clientHeight;
      const c = echarts.init(null, null, { renderer: "svg", ssr: true, width: w, height: h });
      c.setOption({
        animation: false,
        backgroundColor: css("--ground"),
        textStyle: { color: css("--text"), fontFamily: "sans-serif" },
        ...spec.option(),
        dataZoom: [],
      });
      const text = c.renderToSVGString();
      c.dispose();
      return text;
    },
  };
  const name = () => slug(spec.name?.() ?? spec.label);
  const button = (text, what, on) => {
    const b = el("button", { type: "button", textContent: text, title: what });
    b.addEventListener("click", on);
    return b;
  };
  exports.append(
    button("SVG", `save this figure as SVG: ${spec.label}`, () => save(`${name()}.svg`, "image/svg+xml", f.svg())),
    button("CSV", `save the data of this figure: ${spec.label}`, () =>
      save(`${name()}.csv`, "text/csv", csv(spec.rows())),
    ),
  );
  // Arrow keys walk over the marks of a focused figure, as the mouse would.
  let at = -1;
  box.addEventListener("keydown", (e) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (e.key === "Escape") chart?.dispatchAction({ type: "hideTip" });
    if (!step || !chart) return;
    e.preventDefault();
    const n = spec.marks?.() ?? 0;
    if (!n) return;
    at = (at + step + n) % n;
    chart.dispatchAction({ type: "showTip", seriesIndex: spec.tipSeries ?? 0, dataIndex: at });
  });
  all.add(f);
  return f;
}

export const zoom = (axis = "xAxisIndex", show = true) => [
  ...(show
    ? [
        {
          type: "slider",
          [axis]: 0,
          height: 18,
          bottom: 8,
          borderColor: css("--line"),
          textStyle: { color: css("--soft") },
          brushSelect: false,
        },
      ]
    : []),
  { type: "inside", [axis]: 0, zoomOnMouseWheel: "ctrl", moveOnMouseMove: true, moveOnMouseWheel: false },
];
