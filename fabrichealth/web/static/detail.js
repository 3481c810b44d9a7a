// What one link, device, rack or loop looks like.

import { address, element } from "/page/api.js";
import { plot } from "/page/plots.js";
import { say } from "/page/words.js";

const HOURS = 6;
const PER_PORT = [
  ["Symbol errors /s", "fabric_port_symbol_errors_total", true],
  ["Corrected bits /s", "fabric_port_fec_corrected_bits_total", true],
  ["Uncorrectable codewords /s", "fabric_port_fec_uncorrectable_codewords_total", true],
  ["Received bytes /s", "fabric_port_rx_bytes_total", true],
  ["Paused, share of time", "fabric_pfc_rx_pause_seconds_total", true],
  ["Light received, dBm", "fabric_optics_rx_power_dbm", false],
  ["Light sent, dBm", "fabric_optics_tx_power_dbm", false],
  ["Laser bias, A", "fabric_optics_tx_bias_amperes", false],
  ["Module, °C", "fabric_optics_temperature_celsius", false],
];

function span(at) { return [at - HOURS * 3600, at]; }

async function plots(list) {
  return element("div", { class: "plots" }, ...await Promise.all(list));
}

export async function linkPage(fabric, id, at) {
  const row = fabric.linkRow(id);
  if (row < 0) return [element("p", {}, say("unknownName"))];
  const [start, end] = span(at);
  const ends = id.split("--").map((text) => {
    const cut = text.indexOf("/");
    return { device: text.slice(0, cut), port: text.slice(cut + 1), text };
  });
  const list = [
    plot(say("health"), [{ metric: "fabric_link_health_ratio", labels: { link: id }, whole: say("links") }],
      start, end),
    plot(say("Bit errors before FEC"), ends.map((one) => ({ metric: "fabric_optics_pre_fec_bit_error_ratio",
      labels: { device: one.device, port: one.port }, name: one.device })), start, end, { log: true }),
    ...PER_PORT.map(([title, metric, rate]) => plot(say(title), ends.map((one) => ({ metric, rate,
      labels: { device: one.device, port: one.port }, name: one.device })), start, end)),
  ];
  return [
    element("h3", {}, id),
    element("p", {}, `${say("state")}: ${say(fabric.linkState(row) || "none")}`),
    element("div", { class: "ends", "aria-label": say("ends"), role: "group" },
      ...ends.map((one) => element("p", {}, element("a",
        { href: address("device", one.device) }, one.device), ` ${one.port}`))),
    await plots(list),
  ];
}

export async function devicePage(fabric, name, at) {
  const device = fabric.deviceRow(name);
  if (device < 0) return [element("p", {}, say("unknownName"))];
  const [start, end] = span(at);
  const facts = fabric.facts(device);
  const rows = fabric.linksOf(device).map((row) => element("tr", {},
    element("td", {}, element("a", { href: address("link", fabric.linkName(row)) },
      fabric.linkName(row))),
    element("td", {}, say(fabric.linkState(row) || "none"))));
  const parts = [
    element("h3", {}, name),
    element("p", {}, [`${say("role")}: ${say(facts.role)}`,
      facts.rack && `${say("rack")}: ${facts.rack}`, facts.host && `${say("host")}: ${facts.host}`,
      `${say("state")}: ${facts.state}`].filter(Boolean).join(" · ")),
    await plots([
      ["Utilisation", "fabric_accelerator_utilization_ratio"],
      ["Chip, °C", "fabric_accelerator_temperature_celsius"],
      ["Power, W", "fabric_accelerator_power_watts"],
    ].filter(() => facts.role === "accelerator").map(([title, metric]) =>
      plot(say(title), [{ metric, labels: { device: name } }], start, end))),
  ];
  if (rows.length) {
    parts.push(element("table", {}, element("thead", {}, element("tr", {},
      element("th", { scope: "col" }, say("links")), element("th", { scope: "col" }, say("state")))),
      element("tbody", {}, ...rows)));
  }
  return parts;
}

export async function rackPage(fabric, name, at) {
  const devices = fabric.devicesOfRack(name);
  if (!devices.length) return [element("p", {}, say("unknownName"))];
  const [start, end] = span(at);
  const loop = fabric.loopOfRack(name);
  return [
    element("h3", {}, `${say("rack")} ${name}`),
    loop ? element("p", {}, `${say("loop")}: `, element("a", { href: address("loop", loop) }, loop))
      : undefined,
    await plots([
      plot(say("Power, W"), [{ metric: "fabric_rack_power_watts", labels: { rack: name } }], start, end),
      plot(say("Feeds, W"), [{ metric: "fabric_feed_power_watts", labels: { rack: name } }], start, end),
      plot(say("Feeds, A"), [{ metric: "fabric_feed_current_amperes", labels: { rack: name } }], start, end),
    ]),
    element("h3", {}, `${say("devices")} (${devices.length})`),
    element("ul", {}, ...devices.map((device) => element("li", {},
      element("a", { href: address("device", fabric.deviceName(device)) }, fabric.deviceName(device)),
      ` ${fabric.facts(device).state}`))),
  ].filter(Boolean);
}

export async function loopPage(fabric, name, at) {
  if (!fabric.hasLoop(name)) return [element("p", {}, say("unknownName"))];
  const [start, end] = span(at);
  const labels = { loop: name };
  return [
    element("h3", {}, `${say("loop")} ${name}`),
    await plots([
      ["Coolant, °C", "fabric_coolant_temperature_celsius"],
      ["Flow, L/min", "fabric_coolant_flow_liters_per_minute"],
      ["Pressure, kPa", "fabric_coolant_pressure_kilopascals"],
      ["Reservoir", "fabric_reservoir_level_ratio"],
      ["Pumps", "fabric_pump_speed_ratio"],
      ["Wet", "fabric_leak_detected"],
    ].map(([title, metric]) => plot(say(title), [{ metric, labels }], start, end))),
  ];
}
