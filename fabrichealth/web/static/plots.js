// Plots of stored series by uPlot, which an installed package brings.

import { ask, element } from "/page/api.js";
import { say } from "/page/words.js";

const COLORS = ["#3b82c4", "#d9772b", "#4f9d69", "#b04cc0", "#c4242b", "#8a7a1a", "#2aa5a0", "#7b61c9"];
const MOST = 8;

// One plot: `asks` are {metric, labels, name, rate}; rates are per second, negative steps resets.
export async function plot(title, asks, start, end, { log = false } = {}) {
  const found = await Promise.all(asks.map(async (one) => {
    const rows = await ask("series", { metric: one.metric, ...one.labels, start, end, limit: MOST });
    return rows.map((row) => ({ name: named(one, row), ...(one.rate ? rate(row) : row) }));
  }));
  const rows = found.flat().filter((row) => row.at.length).slice(0, MOST);
  const figure = element("figure", {}, element("figcaption", {}, title));
  if (!rows.length) {
    figure.append(element("p", { class: "quiet" }, say("noPlots")));
    return figure;
  }
  const columns = joined(rows);
  const holder = element("div", { role: "img", "aria-label": spokenOf(title, rows) });
  figure.append(holder);
  const quiet = getComputedStyle(document.documentElement).getPropertyValue("--quiet").trim();
  const axis = { stroke: quiet, grid: { stroke: quiet + "33" }, ticks: { stroke: quiet + "33" } };
  requestAnimationFrame(() => new window.uPlot({
    width: Math.max(300, holder.clientWidth || 420), height: 180,
    scales: { x: { min: start, max: end }, y: log ? { distr: 3 } : {} },
    axes: [axis, { ...axis, size: 64, values: (_, ticks) => ticks.map(short) }],
    tzDate: (at) => window.uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
    series: [{}, ...rows.map((row, index) => ({ label: row.name, stroke: COLORS[index],
      width: 1.5, spanGaps: false, points: { show: row.at.length < 40 }, value: (_, v) => short(v) }))],
  }, columns, holder));
  return figure;
}

function named(one, row) {
  const rest = Object.entries(row.labels)
    .filter(([key, value]) => value && !(key in (one.labels ?? {}))).map(([, value]) => value);
  return [one.name, ...rest].filter(Boolean).join(" ") || one.whole || row.metric;
}

// Growth per second between neighbours; a fall is a restart of the counter, not a negative rate.
export function rate(row) {
  const [at, values] = [[], []];
  for (let n = 1; n < row.at.length; n += 1) {
    const step = row.at[n] - row.at[n - 1];
    const grown = row.values[n] - row.values[n - 1];
    if (step > 0) {
      at.push(row.at[n]);
      values.push(grown >= 0 ? grown / step : null);
    }
  }
  return { at, values };
}

// The columns of uPlot: every moment of any row, and each row's value at it or none.
export function joined(rows) {
  const moments = [...new Set(rows.flatMap((row) => row.at))].sort((a, b) => a - b);
  const place = new Map(moments.map((at, index) => [at, index]));
  return [moments, ...rows.map((row) => {
    const column = new Array(moments.length).fill(undefined);
    row.at.forEach((at, index) => { column[place.get(at)] = row.values[index]; });
    return column;
  })];
}

export function short(value) {
  if (value === null || value === undefined) return "-";
  const size = Math.abs(value);
  if (size && (size < 1e-3 || size >= 1e6)) return value.toExponential(1);
  return String(Math.round(value * 1000) / 1000);
}

function spokenOf(title, rows) {
  return `${title}: ${rows.map((row) => `${row.name} ${short(row.values.at(-1))}`).join(", ")}`;
}
