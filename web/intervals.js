// The figure kind `intervals`: means of ratios with their 95 % intervals, a row per scheme and a panel per machine.
// f.panels: [{name, note, values: {ROW: [mean, low, high]}}]; f.rows: [ROW]. low or high null: no interval.
import * as echarts from "echarts";

const ROW = 16,
  LEFT = 132,
  PANEL = 220,
  GAP = 34,
  TOP = 46,
  BOTTOM = 44;

// As paper.mjs has it: a row of numbers for each scheme, for the CSV file.
export function intervals(f) {
  const heads = f.panels.flatMap((p) => [p.name, `${p.name} low`, `${p.name} high`]);
  const rows = f.rows.map((r) => [
    r,
    ...f.panels.flatMap((p) => (p.values[r] ?? [null, null, null]).map((v) => v ?? undefined)),
  ]);
  return { heads, rows, means: new Set() };
}

// The range of all panels: what 19 of 20 ends of intervals lie in; what lies beyond is cut off at the edge.
function range(f) {
  const ends = f.panels.flatMap((p) => Object.values(p.values).flat()).filter((v) => Number.isFinite(v));
  ends.sort((a, b) => a - b);
  const at = (q) => ends[Math.min(ends.length - 1, Math.max(0, Math.round(q * (ends.length - 1))))];
  const low = Math.min(0.98, at(0.025)),
    high = Math.max(1.02, at(0.975)),
    step = high - low > 0.5 ? 0.1 : high - low > 0.2 ? 0.05 : 0.02;
  return { min: Math.floor(low / step) * step, max: Math.ceil(high / step) * step, step };
}

function mark(colors, span) {
  return (params, api) => {
    const row = api.value(0),
      [mean, low, high] = [1, 2, 3].map((i) => api.value(i)),
      clip = (v) => Math.min(span.max, Math.max(span.min, v)),
      at = (v) => api.coord([clip(v), row]);
    const [x, y] = at(mean),
      sure = Number.isFinite(low) && (low > 1 || high < 1),
      color = !sure ? colors.tie : low > 1 ? colors.gain : colors.loss;
    const line = (v, w) => ({
      type: "line",
      shape: { x1: at(v[0])[0], y1: y, x2: at(v[1])[0], y2: y },
      style: { stroke: color, lineWidth: w },
    });
    const inside = mean >= span.min && mean <= span.max;
    return {
      type: "group",
      children: [
        ...(Number.isFinite(low) ? [line([low, high], 2)] : []),
        inside
          ? {
              type: "circle",
              shape: { cx: x, cy: y, r: 3.6 },
              style: { fill: sure ? color : "#fff", stroke: color, lineWidth: 1.5 },
            }
          : {
              type: "text",
              style: {
                text: mean < 1 ? "\u25c0" : "\u25b6",
                x,
                y,
                verticalAlign: "middle",
                fill: color,
                fontSize: 11,
                align: mean < 1 ? "left" : "right",
              },
            },
      ],
    };
  };
}

export function intervalsSvg(f, { ink, grid, font, colors }) {
  const span = range(f),
    height = TOP + ROW * f.rows.length + BOTTOM,
    width = LEFT + f.panels.length * (PANEL + GAP);
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
  const left = (i) => LEFT + i * (PANEL + GAP);
  const text = { color: ink, fontFamily: font };
  chart.setOption({
    animation: false,
    backgroundColor: "#fff",
    textStyle: { fontFamily: font, color: ink },
    title: f.panels.map((p, i) => ({
      text: p.name,
      subtext: p.note,
      left: left(i) + PANEL / 2,
      top: 2,
      itemGap: 2,
      textAlign: "center",
      textStyle: { ...text, fontSize: 13 },
      subtextStyle: { ...text, fontSize: 11 },
    })),
    grid: f.panels.map((_, i) => ({ left: left(i), width: PANEL, top: TOP, height: ROW * f.rows.length })),
    yAxis: f.panels.map((_, i) => ({
      type: "category",
      gridIndex: i,
      data: f.rows,
      inverse: true,
      axisLabel: { show: !i, color: ink, interval: 0, fontSize: 11 },
      axisTick: { show: false },
      axisLine: { lineStyle: { color: ink } },
    })),
    xAxis: f.panels.map((_, i) => ({
      type: "value",
      gridIndex: i,
      min: span.min,
      max: span.max,
      interval: span.step,
      name: i === Math.floor((f.panels.length - 1) / 2) ? f.axis?.x : "",
      nameLocation: "middle",
      nameGap: 26,
      nameTextStyle: text,
      axisLabel: { color: ink, fontSize: 10, formatter: (v) => v.toFixed(2), hideOverlap: true },
      splitLine: { lineStyle: { color: grid } },
    })),
    series: f.panels.map((p, i) => ({
      type: "custom",
      xAxisIndex: i,
      yAxisIndex: i,
      renderItem: mark(colors, span),
      encode: { x: 1, y: 0 },
      data: f.rows.map((r, k) => [k, ...(p.values[r] ?? [])].map((v) => v ?? NaN)).filter((v) => Number.isFinite(v[1])),
      markLine: {
        silent: true,
        symbol: "none",
        label: { show: false },
        lineStyle: { color: ink, type: "dashed", width: 1 },
        data: [{ xAxis: 1 }],
      },
    })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}
