// The pause tree of a storm: who waits for whom, the origin at the right, as SVG.

import { say } from "/page/words.js";

const SPACE = "http://www.w3.org/2000/svg";
const [WIDE, HIGH, GAP] = [230, 26, 80];

function shape(name, attributes, text) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Edges (waiting, blocking, share) as evidence tells them.
export function edges(evidence) {
  return evidence.filter((one) => one.metric.endsWith("pause_wait_ratio") && one.labels.waiting)
    .map((one) => ({ from: one.labels.waiting, to: one.labels.blocking, share: one.value }));
}

// How far each port is from where nothing waits; a circle stops at the number of ports.
export function depths(found) {
  const ports = [...new Set(found.flatMap((one) => [one.from, one.to]))];
  const depth = new Map(ports.map((port) => [port, 0]));
  for (let turn = 0; turn < ports.length; turn += 1) {
    let moved = false;
    for (const one of found) {
      if (depth.get(one.from) <= depth.get(one.to) && depth.get(one.to) < ports.length) {
        depth.set(one.from, depth.get(one.to) + 1);
        moved = true;
      }
    }
    if (!moved) break;
  }
  return depth;
}

export function pauseTree(evidence, culprit) {
  const found = edges(evidence);
  if (!found.length) return undefined;
  const depth = depths(found);
  const deepest = Math.max(...depth.values());
  const rows = new Map();
  const places = new Map();
  for (const [port, level] of depth) {
    const row = rows.get(level) ?? 0;
    rows.set(level, row + 1);
    places.set(port, { x: (deepest - level) * (WIDE + GAP) + 4, y: row * (HIGH + 14) + 4 });
  }
  const width = (deepest + 1) * (WIDE + GAP);
  const height = Math.max(...rows.values()) * (HIGH + 14) + 8;
  const said = found.map((one) => `${one.from} ${say("waits")} ${one.to}, ${share(one)}`).join("; ");
  const tree = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": said });
  for (const one of found) {
    const [a, b] = [places.get(one.from), places.get(one.to)];
    const [x, y] = [a.x + WIDE, a.y + HIGH / 2];
    tree.append(shape("path", { class: "edge",
      d: `M${x} ${y} C${x + GAP / 2} ${y} ${b.x - GAP / 2} ${b.y + HIGH / 2} ${b.x} ${b.y + HIGH / 2}` }));
    tree.append(shape("text", { x: x + 6, y: y - 4 }, share(one)));
  }
  for (const [port, at] of places) {
    const origin = port === culprit ? " origin" : "";
    tree.append(shape("rect", { class: `port${origin}`, x: at.x, y: at.y, width: WIDE, height: HIGH,
      rx: 4 }));
    tree.append(shape("text", { x: at.x + 8, y: at.y + 17 },
      port.length > 32 ? `${port.slice(0, 31)}…` : port));
  }
  return tree;
}

function share(one) { return `${Math.round(100 * one.share)} %`; }
