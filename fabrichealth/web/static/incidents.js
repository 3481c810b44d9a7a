// The list of incidents, gravest first, and one incident whole.

import { address, ask, element } from "/page/api.js";
import { pauseTree } from "/page/pauses.js";
import { moment, say } from "/page/words.js";

const ORDER = { page: 0, ticket: 1, watch: 2, info: 3 };
const PAGES = { link: "link", device: "device", loop: "loop", rack: "rack" };

export function sorted(incidents) {
  return [...incidents].sort((a, b) => (a.suppressed_by ? 1 : 0) - (b.suppressed_by ? 1 : 0)
    || ORDER[a.severity] - ORDER[b.severity] || (b.opened_at ?? 0) - (a.opened_at ?? 0));
}

// What has not changed stays, and so does the place of who goes through the list by keyboard.
export function listed(incidents, whole, chosen, isRead) {
  const list = document.getElementById("incident-list");
  const rows = sorted(incidents).map((one) => row({ ...whole.get(one.incident), ...one }, chosen));
  if (!incidents.length) {
    rows.push(element("li", { class: "quiet" }, say(isRead ? "nothing" : "noReadings")));
  }
  const held = [...list.children];
  if (rows.length === held.length && rows.every((one, at) => one.isEqualNode(held[at]))) return;
  const [top, href] = [list.scrollTop, document.activeElement?.closest("#incident-list a")
    ?.getAttribute("href")];
  list.replaceChildren(...rows);
  list.scrollTop = top;
  const again = href && [...list.querySelectorAll("a")].find((one) =>
    one.getAttribute("href") === href);
  if (again) again.focus({ preventScroll: true });
}

function row(one, chosen) {
  const facts = [say(one.severity)];
  if (one.cause) facts.push(say(one.cause));
  const sure = one.causes?.[0]?.probability;
  if (sure !== undefined) facts.push(`${say("confidence")} ${Math.round(100 * sure)} %`);
  if (one.culprit.type === "link") facts.push(`${say("safe")}: ${truth(one.safe_to_drain)}`);
  if (one.suppressed_by) facts.push(`${say("suppressed")} ${one.suppressed_by}`);
  if (one.operator) facts.push(`${say("said")} ${one.operator.says ?? one.operator}`);
  const link = element("a", { href: address("incident", one.incident),
    "aria-current": one.incident === chosen ? "true" : undefined },
    element("strong", {}, `${say(one.kind)}: ${one.culprit.id}`),
    element("span", {}, facts.join(" · ")), element("br"),
    element("span", { class: "quiet" }, one.action ?? ""));
  return element("li", { class: one.severity }, link);
}

function typed(type) {
  const word = say(`type.${type}`);
  return word === `type.${type}` ? type : word;
}

function truth(value) {
  if (value === true) return say("yes");
  return value === false ? say("no") : say("unknown");
}

function place(one) {
  const page = PAGES[one.type] ?? (one.type === "port" ? "device" : undefined);
  if (!page) return `${typed(one.type)} ${one.id}`;
  const name = one.type === "port" ? one.id.split("/")[0] : one.id;
  return element("a", { href: address(page, name) }, `${typed(one.type)} ${one.id}`);
}

export async function incidentPage(one) {
  const facts = element("table", {}, element("tbody", {},
    fact("culprit", place(one.culprit)),
    one.culprit.side ? fact("side", one.culprit.side) : undefined,
    fact("cause", causes(one)),
    fact("action", one.action ?? ""),
    one.culprit.type === "link"
      ? fact("safe", `${truth(one.safe_to_drain)}${one.safe_because ? `: ${one.safe_because}` : ""}`)
      : undefined,
    fact("since", one.opened_at ? moment(one.opened_at) : ""),
    one.closed_at ? fact("ended", moment(one.closed_at)) : undefined));
  const parts = [element("h3", {}, `${say(one.kind)} (${one.incident}, ${say(one.severity)})`), facts];
  const tree = pauseTree(one.evidence ?? [], one.culprit.id);
  if (tree) {
    parts.push(element("h3", {}, say("pauseTree")), element("div", { class: "wide" }, tree));
  }
  if (one.victims?.length) {
    const rows = one.victims.slice(0, 50).map((victim) => element("li", {}, place(victim)));
    if (one.victims.length > 50) rows.push(element("li", {}, `+ ${one.victims.length - 50}`));
    parts.push(element("h3", {}, `${say("victims")} (${one.victims.length})`),
      element("ul", {}, ...rows));
  }
  if (one.alternatives?.length) {
    parts.push(element("h3", {}, say("alternatives")), element("ul", {},
      ...one.alternatives.map((other) => element("li", {}, place(other.culprit),
        ` ${Math.round(100 * other.share)} %: ${other.why_not}`))));
  }
  const [{ text }] = await ask("story", { incident: one.incident });
  parts.push(element("h3", {}, say("story")), element("pre", { tabindex: "0" }, text));
  return parts;
}

function fact(word, value) {
  return element("tr", {}, element("th", { scope: "row" }, say(word)), element("td", {}, value));
}

function causes(one) {
  if (!one.causes?.length) return one.cause ? say(one.cause) : say("unknown");
  return one.causes.slice(0, 3)
    .map((other) => `${say(other.cause)} ${Math.round(100 * other.probability)} %`).join(", ");
}
