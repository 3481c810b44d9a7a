// The fabric of one moment: what there is, and the state of each link and device.

import { bytes } from "/page/api.js";
import { say } from "/page/words.js";

const NONE = 255;

export class Fabric {
  constructor(layout) {
    this.layout = layout;
    this.states = layout.states;
    const { name, rack } = layout.devices;
    this.places = new Map(name.map((one, index) => [one, index]));
    this.rows = new Map(layout.links.id.map((one, index) => [one, index]));
    this.racks = new Map();
    name.forEach((_, index) => {
      const held = this.racks.get(rack[index]) ?? [];
      held.push(index);
      this.racks.set(rack[index], held);
    });
    this.loops = new Map(layout.racks.map((one) => [one.name, one.loop]));
    this.#index();
    this.take({});
  }

  // Links of each device, in one array with offsets: 150,000 links and no small objects.
  #index() {
    const { a, b } = this.layout.links;
    const count = this.layout.devices.name.length;
    this.offsets = new Uint32Array(count + 1);
    for (let row = 0; row < a.length; row += 1) {
      this.offsets[a[row] + 1] += 1;
      if (b[row] !== a[row]) this.offsets[b[row] + 1] += 1;
    }
    for (let device = 0; device < count; device += 1) this.offsets[device + 1] += this.offsets[device];
    this.held = new Uint32Array(this.offsets[count]);
    const next = this.offsets.slice(0, count);
    for (let row = 0; row < a.length; row += 1) {
      this.held[next[a[row]]++] = row;
      if (b[row] !== a[row]) this.held[next[b[row]]++] = row;
    }
  }

  // Take the states of a moment as `/api/v1/picture` tells them.
  take(picture) {
    const [links, devices, busy] = ["links", "devices", "busy"].map((key) => bytes(picture[key]));
    const fits = (found, length, empty) =>
      (found.length === length ? found : new Uint8Array(length).fill(empty));
    this.links = fits(links, this.layout.links.id.length, 0);
    this.devices = fits(devices, this.layout.devices.name.length, 0);
    this.busy = fits(busy, this.layout.devices.name.length, NONE);
    this.culprits = new Set();
    for (const one of picture.incidents ?? []) {
      if (one.suppressed_by || !["page", "ticket"].includes(one.severity)) continue;
      const named = one.culprit.type === "link"
        ? one.culprit.id.split("--").map((end) => end.split("/")[0])
        : [one.culprit.id.split("/")[0]];
      for (const name of named) {
        if (this.places.has(name)) this.culprits.add(this.places.get(name));
      }
    }
  }

  deviceRow(name) { return this.places.get(name) ?? -1; }
  deviceName(device) { return this.layout.devices.name[device]; }
  linkRow(id) { return this.rows.get(id) ?? -1; }
  linkName(row) { return this.layout.links.id[row]; }
  linkState(row) { return this.states[this.links[row]]; }
  linksOf(device) { return [...this.held.subarray(this.offsets[device], this.offsets[device + 1])]; }
  devicesOfRack(rack) { return this.racks.get(rack) ?? []; }
  hasLoop(name) {
    return this.layout.loops.includes(name) || [...this.loops.values()].includes(name);
  }
  loopOfRack(rack) { return this.loops.get(rack); }

  // The worst state among a device's links; -1 where the device itself is silent.
  worst(device, links = this.links, devices = this.devices) {
    if (devices[device] === 2) return -1;
    let found = 0;
    for (let at = this.offsets[device]; at < this.offsets[device + 1]; at += 1) {
      found = Math.max(found, links[this.held[at]]);
    }
    return found;
  }

  facts(device) {
    const { role, rack, host, domain } = this.layout.devices;
    const worst = this.worst(device);
    const words = [worst < 0 ? say("silent") : say(this.states[worst] || "none")];
    if (this.busy[device] !== NONE) words.push(`${say("busy")} ${this.busy[device]} %`);
    return { role: role[device], rack: rack[device], host: host[device], domain: domain[device],
      state: words.join(", ") };
  }

  // Whether anything was read of this moment: where nothing was, nothing is known to be well.
  get isRead() { return this.links.some(Boolean) || this.devices.some(Boolean); }

  counts() {
    const found = new Array(this.states.length).fill(0);
    for (const state of this.links) found[state] += 1;
    return found;
  }
}
