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
const AGAIN = 3000;

const at = (id) => document.getElementById(id);
const state = { now: 0, at: undefined, versus: undefined, whole: new Map(), open: [], fabric: undefined };
const map = new Map2D(at("map"), (device) => {
  location.hash = address("device", state.fabric.deviceName(device));
}, cursorMoved);

// What is wrong with what is shown: the stream is cut, the daemon does not answer, the store lacks.
Object.assign(state, { cut: false, mute: false, lacks: "", wanted: false });

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
  const chosen = at("domain").value;
  state.fabric = new Fabric(layout);
  at("domain").replaceChildren(element("option", { value: "" }, say("every")),
    ...layout.domains.map((one) => element("option", { value: one.name }, one.name)));
  const names = [...layout.racks.map((one) => one.name), ...layout.loops,
    ...layout.devices.name].slice(0, 5000);
  at("names").replaceChildren(...names.map((name) => element("option", { value: name })));
  if (layout.domains.some((one) => one.name === chosen)) at("domain").value = chosen;
  place();
}

let looks = 0;

// Of several looks under way the last one counts: an answer that comes late is of another moment.
async function look() {
  const mine = ++looks;
  const query = state.at === undefined ? {} : { at: state.at };
  const [[picture], incidents, [other]] = await Promise.all([ask("picture", query),
    ask("incidents"), state.versus === undefined ? [] : ask("picture", { at: state.versus })]);
  if (mine !== looks) return;
  if (picture.layout !== state.fabric.layout.version) await learn(); // places are others now
  if (mine !== looks) return;
  state.mute = false;
  state.lacks = picture.lacks;
  if (state.at === undefined) state.now = picture.at;
  state.whole = new Map(incidents.map((one) => [one.incident, one]));
  state.before = undefined;
  if (other) {
    state.fabric.take(other);
    state.before = { links: state.fabric.links, devices: state.fabric.devices };
    state.openBefore = other.incidents;
  }
  state.open = picture.incidents;
  state.fabric.take(picture);
  render();
  if (state.wanted) { // by whichever look came after the one that was asked for it
    state.wanted = false;
    await detail();
  }
}

function render() {
  const counts = {};
  for (const one of state.open.filter((other) => !other.suppressed_by)) {
    counts[one.severity] = (counts[one.severity] ?? 0) + 1;
  }
  const told = Object.values(counts).reduce((sum, many) => sum + many, 0);
  if (told < state.open.length) counts.excused = state.open.length - told;
  at("counts").textContent = ["page", "ticket", "watch", "info", "excused"]
    .filter((one) => counts[one]).map((one) => `${counts[one]} ${say(one)}`).join(" · ") || say(state.fabric.isRead ? "nothing" : "noReadings");
  at("language").textContent = say("language");
  at("language").lang = spoken() === "zh" ? "en" : "zh";
  listed(state.open, state.whole, route().name, state.fabric.isRead);
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
  const well = state.lacks ? `${say("lacks")} ${state.lacks}`
    : say(state.at === undefined ? "live" : "past");
  at("live").textContent = state.cut || state.mute ? say("lost") : well;
}

function route() {
  const [, kind = "", ...rest] = location.hash.split("/");
  const name = rest.join("/");
  try {
    return { kind, name: decodeURIComponent(name) };
  } catch {
    return { kind, name }; // typed by hand, with a % that stands for itself
  }
}

const PAGES = { link: linkPage, device: devicePage, rack: rackPage, loop: loopPage };
const AGE = 60; // seconds after which what is shown of a link or device is asked for again
let shown = 0;
let drawn = 0;

async function detail() {
  const { kind, name } = route();
  const mine = ++shown;
  const when = state.at ?? state.now;
  let parts = [element("p", { class: "quiet" }, say("choose"))];
  try {
    if (kind === "incident") {
      parts = state.whole.has(name) ? await incidentPage(state.whole.get(name))
        : [element("p", {}, say("unknownName"))];
    } else if (kind in PAGES) {
      drawn = when;
      parts = await PAGES[kind](state.fabric, name, when);
      parts.splice(1, 0, element("p", { class: "quiet" }, `${say("asOf")} ${moment(when)}`));
    }
    if (kind === "device") map.show(state.fabric.deviceRow(name));
    if (state.before && !kind) parts = changes();
  } catch (wrong) {
    parts = [element("p", {}, wrong.message)];
  }
  if (mine !== shown) return;
  at("detail").replaceChildren(...parts.filter(Boolean));
  listed(state.open, state.whole, name, state.fabric.isRead);
  paint();
}

// What is open beside the list grows old; it is left alone where somebody is at work in it.
function renewed() {
  const old = route().kind in PAGES && Math.abs(state.now - drawn) >= AGE;
  if (state.at === undefined && old && !at("detail").contains(document.activeElement)) detail();
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

const refresh = later(150, () => {
  state.wanted = true;
  look().catch(lost);
});
const soon = later(500, () => { if (state.at === undefined) look().catch(lost); });

function lost(wrong) {
  state.mute = true;
  said();
  console.warn(wrong.message);
}

function listen() {
  const stream = new EventSource("/api/v1/stream");
  stream.onopen = () => { state.cut = false; soon(); said(); };
  stream.onerror = () => {
    state.cut = true;
    said();
    // one that was refused is given up by the browser and not tried again
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, AGAIN);
  };
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
    : fabric.racks.has(name) ? "rack" : fabric.hasLoop(name) ? "loop"
    : state.whole.has(name) ? "incident" : "device";
  if (name) location.hash = address(kind, name);
};
window.addEventListener("hashchange", () => {
  if (location.hash && !location.hash.startsWith("#/")) return; // a place on the page itself
  detail().then(() => at("detail-title").focus());
});
window.addEventListener("resize", later(200, () => {
  if (!state.fabric) return;
  place();
  paint();
  if (route().kind in PAGES) detail();
}));

theme(localStorage.getItem("theme")
  || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
speak(spoken());
// A daemon that is just being started again is waited for.
function begin() {
  learn().then(look).then(detail).then(() => {
    listen();
    document.documentElement.dataset.ready = "yes";
    setInterval(() => { if (state.at === undefined) look().then(renewed).catch(lost); }, EVERY);
  }).catch((wrong) => {
    at("live").textContent = say("lost");
    console.warn(wrong.message);
    setTimeout(begin, AGAIN);
  });
}

begin();
