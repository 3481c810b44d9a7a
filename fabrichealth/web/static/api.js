// The API of this daemon, and small ways to build elements: text is text, never markup.

export async function ask(path, query = {}) {
  const words = new URLSearchParams(query).toString();
  const answer = await fetch(`/api/v1/${path}${words ? "?" + words : ""}`);
  if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
  return (await answer.json()).data;
}

export function bytes(packed) {
  if (!packed) return new Uint8Array();
  return Uint8Array.from(atob(packed), (one) => one.charCodeAt(0));
}

// An element with attributes and children; children that are strings become text.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((one) => one !== undefined && one !== null && one !== ""));
  return made;
}

export function address(kind, name) { return `#/${kind}/${encodeURIComponent(name)}`; }

export function later(wait, act) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), wait);
  };
}
