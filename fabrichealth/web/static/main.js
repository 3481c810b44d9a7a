// The page: what is shown of which moment, kept in the address, the sliders and the live stream.

import { address, ask, element, later } from "/page/api.js";
import { devicePage, linkPage, loopPage, rackPage } from "/page/detail.js";
import { Fabric } from "/page/fabric.js";
import { incidentPage, listed } from "/page/incidents.js";
import { legend, Map2D } from "/page/map.js";
import { moment, say, speak, spoken } from "/page/words.js";

const SPAN = 7 * 86400;
const STEP = 60;
const EVERY = 15000;

const at = (id) => document.getElementById(id);
const state = { now: 0, at: undefined, versus: undefined, whole: new Map(), open: [], fabric: undefined };
const map = new Map2D(at("map"), (device) => {
  location.hash = address("device", state.fabric.deviceName(device));
}, cursorMoved);

let painting = 0;

// Several reasons to draw within a frame are one drawing.
function paint() {
  cancelAnimationFrame(painting);
  painting = requestAnimationFrame(() => map.draw(state.before));
}

function cursorMoved(device, again) {
  if (again) place();
  paint();
  if (device < 0) return at("cursor").replaceChildren();
  const facts = state.fabric.facts(device);
  at("cursor").textContent = [state.fabric.deviceName(device), say(facts.role), facts.rack,
    facts.state].filter(Boolean).join(" · ");
}

function place() {
  map.place(state.fabric, at("domain").value, Math.max(280, at("board").clientWidth - 2));
}

async function learn() {
  const [layout] = await ask("layout");
  state.fabric = new Fabric(layout);
  at("domain").replaceChildren(element("option", { value: "" }, say("every")),
    ...layout.domains.map((one) => element("option", { value: one.name }, one.name)));
  const names = [...layout.racks.map((one) => one.name), ...layout.loops,
    ...layout.devices.name].slice(0, 5000);
  at("names").replaceChildren(...names.map((name) => element("option", { value: name })));
  place();
}

async function look() {
  const query = state.at === undefined ? {} : { at: state.at };
  const [[picture], incidents] = await Promise.all([ask("picture", query), ask("incidents")]);
  if (state.at === undefined) state.now = picture.at;
  state.whole = new Map(incidents.map((one) => [one.incident, one]));
  state.before = undefined;
  if (state.versus !== undefined) {
    const [other] = await ask("picture", { at: state.versus });
    state.fabric.take(other);
    state.before = { links: state.fabric.links, devices: state.fabric.devices };
    state.openBefore = other.incidents;
  }
  state.open = picture.incidents;
  state.fabric.take(picture);
  render();
}

function render() {
  const counts = {};
  for (const one of state.open.filter((other) => !other.suppressed_by)) {
    counts[one.severity] = (counts[one.severity] ?? 0) + 1;
  }
  at("counts").textContent = ["page", "ticket", "watch", "info"].filter((one) => counts[one])
    .map((one) => `${counts[one]} ${say(one)}`).join(" · ") || say("nothing");
  at("language").textContent = say("language");
  at("language").lang = spoken() === "zh" ? "en" : "zh";
  listed(state.open, state.whole, route().name);
  at("legend").replaceChildren(...legend(Boolean(state.before)).map((one) =>
    element("li", { class: `state-${one.name}` }, element("i"), one.text)));
  const found = state.fabric.counts();
  at("map").setAttribute("aria-label", `${say("fabric")}: ` + state.fabric.states
    .map((name, index) => [name, found[index]]).filter(([name, many]) => name && many)
    .map(([name, many]) => `${many} ${say("links")} ${say(name)}`).join(", "));
  paint();
  said();
}

function said() {
  for (const [slider, value] of [["moment", state.at], ["versus", state.versus]]) {
    const input = at(slider);
    input.min = Math.floor((state.now - SPAN) / STEP);
    input.max = Math.floor(state.now / STEP);
    if (value === undefined && slider === "moment") input.value = input.max;
    const shown = value ?? (slider === "moment" ? state.now : input.value * STEP);
    at(`${slider}-said`).textContent = moment(shown);
    input.setAttribute("aria-valuetext", moment(shown));
  }
  at("live").textContent = state.lost ? say("lost") : say(state.at === undefined ? "live" : "past");
}

function route() {
  const [, kind = "", name = ""] = location.hash.split("/");
  return { kind, name: decodeURIComponent(name) };
}

const PAGES = { link: linkPage, device: devicePage, rack: rackPage, loop: loopPage };
let shown = 0;

async function detail() {
  const { kind, name } = route();
  const mine = ++shown;
  const when = state.at ?? state.now;
  let parts = [element("p", { class: "quiet" }, say("choose"))];
  try {
    if (kind === "incident" && state.whole.has(name)) {
      parts = await incidentPage(state.whole.get(name));
    } else if (kind in PAGES) {
      parts = await PAGES[kind](state.fabric, name, when);
    }
    if (kind === "device") map.show(state.fabric.deviceRow(name));
    if (state.before && !kind) parts = changes();
  } catch (wrong) {
    parts = [element("p", {}, wrong.message)];
  }
  if (mine !== shown) return;
  at("detail").replaceChildren(...parts.filter(Boolean));
  listed(state.open, state.whole, name);
  paint();
}

// Incidents that opened or were over between two moments.
function changes() {
  const [older, newer] = state.versus < (state.at ?? state.now)
    ? [state.openBefore, state.open] : [state.open, state.openBefore];
  const names = (list) => new Set(list.map((one) => one.incident));
  const [before, after] = [names(older), names(newer)];
  const rows = (list) => element("ul", {}, ...list.map((one) => element("li", {}, element("a",
    { href: address("incident", one.incident) }, `${say(one.kind)}: ${one.culprit.id}`))));
  return [
    element("h3", {}, say("opened")), rows(newer.filter((one) => !before.has(one.incident))),
    element("h3", {}, say("closed")), rows(older.filter((one) => !after.has(one.incident))),
  ];
}

const refresh = later(150, () => look().then(detail).catch(lost));
const soon = later(500, () => { if (state.at === undefined) look().catch(lost); });

function lost(wrong) {
  state.lost = true;
  said();
  console.warn(wrong.message);
}

function listen() {
  const stream = new EventSource("/api/v1/stream");
  stream.onopen = () => { state.lost = false; said(); };
  stream.onerror = () => { state.lost = true; said(); };
  stream.onmessage = (event) => {
    const one = JSON.parse(event.data);
    state.whole.set(one.incident, one);
    soon();
    if (route().kind === "incident" && route().name === one.incident) detail();
  };
}

function theme(next) {
  document.documentElement.dataset.theme = next;
  localStorage.setItem("theme", next);
  if (state.fabric) paint();
}

at("language").onclick = () => {
  speak(spoken() === "zh" ? "en" : "zh");
  at("domain").options[0].textContent = say("every");
  render();
  detail();
};
at("theme").onclick = () => {
  theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  detail();
};
at("moment").oninput = (event) => {
  const last = Number(event.target.value) >= Number(event.target.max);
  state.at = last ? undefined : Number(event.target.value) * STEP;
  said();
  refresh();
};
at("versus").oninput = (event) => {
  state.versus = Number(event.target.value) * STEP;
  said();
  refresh();
};
at("comparing").onchange = (event) => {
  at("versus-row").hidden = !event.target.checked;
  at("versus").value = Number(at("moment").value) - 60;
  state.versus = event.target.checked ? Number(at("versus").value) * STEP : undefined;
  refresh();
};
at("now").onclick = () => { state.at = undefined; refresh(); };
at("domain").onchange = () => { place(); paint(); };
at("find").onchange = (event) => {
  const name = event.target.value.trim();
  const { fabric } = state;
  const kind = fabric.deviceRow(name) >= 0 ? "device" : fabric.linkRow(name) >= 0 ? "link"
    : fabric.racks.has(name) ? "rack" : "loop";
  if (name) location.hash = address(kind, name);
};
window.addEventListener("hashchange", () => {
  if (location.hash && !location.hash.startsWith("#/")) return; // a place on the page itself
  detail().then(() => at("detail-title").focus());
});
window.addEventListener("resize", later(200, () => { place(); paint(); }));

theme(localStorage.getItem("theme")
  || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
speak(spoken());
learn().then(look).then(detail).then(listen).then(() => {
  document.documentElement.dataset.ready = "yes";
  setInterval(() => { if (state.at === undefined) look().catch(lost); }, EVERY);
}).catch(lost);
