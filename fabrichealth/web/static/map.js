// The picture: racks as blocks, devices as cells, links as squares in them, on one canvas.

import { say } from "/page/words.js";

const NAMES = ["none", "unknown", "healthy", "watch", "subhealthy", "drain", "down"];
const SHOWS_LINKS = 12;
// Pixels of a canvas that every browser draws; beyond them it stays empty without a word.
const [MOST_HIGH, MOST_AREA] = [16384, 2 ** 24];
const [PAD, LABEL, GAP] = [4, 14, 10];
const DRAWN = ["accelerator", "switch", "cdu", "pdu", "nic", "host"];

export class Map2D {
  constructor(canvas, opens, tells) {
    this.canvas = canvas;
    this.opens = opens;
    this.tells = tells;
    this.cells = [];
    this.cursor = -1;
    this.zoom = 0;
    canvas.addEventListener("mousemove", (event) => this.#point(event));
    canvas.addEventListener("click", (event) => {
      this.#point(event);
      if (this.cursor >= 0) this.opens(this.cells[this.cursor].device);
    });
    canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  // Lay racks out for a width; hosts that hold accelerators are the rows of their rack.
  place(fabric, domain, given) {
    let width = given;
    this.fabric = fabric;
    const blocks = this.#blocks(domain);
    const cells = blocks.reduce((sum, one) => sum + one.rows.flat().length, 0);
    const wide = Math.max(1, ...blocks.map((one) => Math.max(...one.rows.map((row) => row.length))));
    let size = cells > 4000 ? 7 : cells > 1500 ? 9 : cells > 400 ? 14 : 22;
    size = Math.max(4, Math.min(48, Math.round(size * 1.4 ** this.zoom)));
    this.size = size;
    const blockWidth = Math.max(wide * size + GAP, 64);
    const perRow = Math.max(1, Math.floor((width - PAD) / blockWidth));
    this.cells = [];
    this.labels = [];
    let [x, y, deep, column] = [PAD, PAD, 0, 0];
    for (const block of blocks) {
      if (column === perRow) [x, y, deep, column] = [PAD, y + deep + GAP, 0, 0];
      this.labels.push({ text: block.name || "-", x, y: y + LABEL - 4, width: blockWidth - GAP });
      block.rows.forEach((row, line) => row.forEach((device, place) => this.cells.push({
        device, x: x + place * size, y: y + LABEL + line * size })));
      deep = Math.max(deep, LABEL + block.rows.length * size);
      [x, column] = [x + blockWidth, column + 1];
    }
    this.at = new Map(this.cells.map((cell, index) => [cell.device, index]));
    this.height = y + deep + PAD;
    width = Math.max(width, blockWidth + PAD); // a narrow screen moves sideways over it
    if (this.height > MOST_HIGH && this.zoom > -3) { // a zoom too far would show nothing at all
      this.zoom -= 1;
      this.place(fabric, domain, given);
      return;
    }
    const ratio = Math.min(window.devicePixelRatio || 1, MOST_HIGH / this.height,
      Math.sqrt(MOST_AREA / (width * this.height)));
    this.canvas.width = width * ratio;
    this.canvas.height = this.height * ratio;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.ratio = ratio;
    if (this.cursor >= this.cells.length) this.cursor = -1;
  }

  #blocks(domain) {
    const { role, host, domain: domains, rack } = this.fabric.layout.devices;
    const racks = new Map(this.fabric.layout.racks.map((one) => [one.name, one.domain]));
    const blocks = [];
    for (const [name, devices] of this.fabric.racks) {
      const shown = devices.filter((one) => DRAWN.includes(role[one])
        && (!domain || domains[one] === domain || racks.get(rack[one]) === domain));
      if (!shown.length) continue;
      const rows = new Map();
      for (const one of shown) {
        const key = host[one] || (role[one] === "host" ? this.fabric.deviceName(one) : ` ${role[one]}`);
        const row = rows.get(key) ?? [];
        row.push(one);
        rows.set(key, row);
      }
      blocks.push({ name, rows: [...rows.values()].flatMap((row) => chunks(row, 16)) });
    }
    return blocks;
  }

  // Draw the states; `before` are the links and devices of another moment to compare with.
  draw(before) {
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const paint = (name) => style.getPropertyValue(`--${name}`).trim();
    const colors = NAMES.map(paint);
    const [silent, better, worse, none] = ["silent", "better", "worse", "none"].map(paint);
    const [text, focus, down] = ["text", "focus", "down"].map(paint);
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = text;
    for (const one of this.labels) pen.fillText(one.text, one.x, one.y, one.width);
    const fabric = this.fabric;
    const inner = this.size - 1;
    for (const cell of this.cells) {
      const worst = fabric.worst(cell.device);
      if (before) {
        const then = fabric.worst(cell.device, before.links, before.devices);
        const [was, is] = [then < 0 ? 7 : then, worst < 0 ? 7 : worst];
        pen.fillStyle = is > was ? worse : is < was ? better : none;
        pen.fillRect(cell.x, cell.y, inner, inner);
      } else if (worst >= 0 && this.size >= SHOWS_LINKS && fabric.offsets[cell.device]
          < fabric.offsets[cell.device + 1]) {
        this.#links(pen, cell, colors, none);
      } else {
        pen.fillStyle = worst < 0 ? silent : colors[worst];
        pen.fillRect(cell.x, cell.y, inner, inner);
      }
    }
    pen.lineWidth = 2;
    pen.strokeStyle = down;
    for (const device of fabric.culprits) {
      const cell = this.cells[this.at.get(device)];
      if (cell) pen.strokeRect(cell.x, cell.y, inner, inner);
    }
    if (this.cursor >= 0) {
      const cell = this.cells[this.cursor];
      pen.strokeStyle = focus;
      pen.lineWidth = 3;
      pen.strokeRect(cell.x - 1, cell.y - 1, inner + 2, inner + 2);
    }
  }

  #links(pen, cell, colors, none) {
    const fabric = this.fabric;
    const [start, end] = [fabric.offsets[cell.device], fabric.offsets[cell.device + 1]];
    const across = Math.ceil(Math.sqrt(end - start));
    const side = (this.size - 2) / across;
    pen.fillStyle = none;
    pen.fillRect(cell.x, cell.y, this.size - 1, this.size - 1);
    for (let at = start; at < end; at += 1) {
      const [row, column] = [Math.floor((at - start) / across), (at - start) % across];
      pen.fillStyle = colors[fabric.links[fabric.held[at]]];
      pen.fillRect(cell.x + column * side, cell.y + row * side, Math.max(1, side - 0.5),
        Math.max(1, side - 0.5));
    }
  }

  #point(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const found = this.cells.findIndex((one) => x >= one.x && x < one.x + this.size
      && y >= one.y && y < one.y + this.size);
    if (found !== this.cursor) this.#move(found);
  }

  #key(event) {
    const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    if (event.key in steps) {
      this.#move(this.#next(...steps[event.key]));
      this.#scroll();
    } else if (event.key === "Home" || event.key === "End") {
      this.#move(event.key === "Home" ? 0 : this.cells.length - 1);
      this.#scroll();
    } else if (event.key === "Enter" && this.cursor >= 0) {
      this.opens(this.cells[this.cursor].device);
    } else if ("+-".includes(event.key)) {
      this.zoom = Math.max(-3, Math.min(5, this.zoom + (event.key === "+" ? 1 : -1)));
      this.tells(this.cursor >= 0 ? this.cells[this.cursor].device : -1, true);
    } else {
      return;
    }
    event.preventDefault();
  }

  // The nearest cell in a direction.
  #next(right, below) {
    if (this.cursor < 0) return 0;
    const from = this.cells[this.cursor];
    let [best, least] = [this.cursor, Infinity];
    this.cells.forEach((one, index) => {
      const ahead = (one.x - from.x) * right + (one.y - from.y) * below;
      const aside = Math.abs((one.x - from.x) * below) + Math.abs((one.y - from.y) * right);
      if (ahead > 0 && ahead + 3 * aside < least) [best, least] = [index, ahead + 3 * aside];
    });
    return best;
  }

  #move(index) {
    this.cursor = index;
    this.tells(index >= 0 ? this.cells[index].device : -1, false);
  }

  // Move the window over the picture to where the cursor is.
  #scroll() {
    const [cell, board] = [this.cells[this.cursor], this.canvas.parentElement];
    if (!cell) return;
    const near = (from, length, at) =>
      Math.min(Math.max(from, at + 3 * this.size - length), Math.max(0, at - 2 * this.size));
    board.scrollTop = near(board.scrollTop, board.clientHeight, cell.y);
    board.scrollLeft = near(board.scrollLeft, board.clientWidth, cell.x);
  }

  show(device) {
    this.cursor = this.at?.get(device) ?? -1;
  }
}

function chunks(row, size) {
  const found = [];
  for (let at = 0; at < row.length; at += size) found.push(row.slice(at, at + size));
  return found;
}

export function legend(compares) {
  const names = compares ? ["better", "worse", "none"] : [...NAMES, "silent"];
  return names.map((name) => ({ name, text: say(name) }));
}
