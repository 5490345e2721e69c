// What is known around an entity, as a drawing: places by forces from a fixed beginning, so the same graph always stands
// the same way. Names are drawn where there is room for them: the nearer one looks, the more.

import { el, svg } from "./dom.js";
import { ago, brief, share, visible } from "./text.js";

const STEPS = 260;
const PAD = { x: 46, y: 26 };
const ZOOM = { least: 0.6, most: 12, step: 1.35 };
const DRAG = 4; // pixels from which a press moves the drawing
const CROWD = 60; // nodes or lines from which each is drawn smaller
const NAMED = 22; // signs of a name
const SAID = 10; // edges of the entity in the middle up to which each says what it is
const TURN = Math.PI * (3 - Math.sqrt(5));
const pen = document.createElement("canvas").getContext("2d"); // measures, and draws nothing

/** The address of an entity's page. */
export const entityAddress = (name) => `#know=${encodeURIComponent(name)}`;

/** One line for each pair, with all that is between them; the strongest first. */
function lines(edges) {
  const pairs = new Map();
  for (const edge of edges) {
    const key = [edge.one, edge.other].sort().join(" ");
    const line = pairs.get(key) ?? { one: edge.one, other: edge.other, kinds: [], strength: 0, used: edge.used, cause: false };
    line.kinds.push(edge.kind);
    line.cause ||= edge.kind === "causes" || edge.kind === "prevents";
    line.strength = Math.max(line.strength, edge.strength ?? 0);
    if (edge.used > line.used) line.used = edge.used;
    pairs.set(key, line);
  }
  return [...pairs.values()].sort((a, b) => b.strength - a.strength || (a.one < b.one ? -1 : 1));
}

/** Places (Fruchterman and Reingold 1991), which do not depend on chance; `x` and `y` of each reach from -1 to 1. */
export function place(nodes, links) {
  const at = new Map(nodes.map((node, i) => [node.id, Object.assign(node, { x: Math.sqrt(i) * Math.cos(i * TURN), y: Math.sqrt(i) * Math.sin(i * TURN) })]));
  const ends = links.map((line) => [at.get(line.one), at.get(line.other), 0.4 + line.strength]);
  const reach = Math.sqrt(nodes.length);
  for (let step = 0; step < STEPS; step += 1) {
    const warm = 0.15 * reach * (1 - step / STEPS) + 0.004;
    for (const node of nodes) node.dx = node.dy = 0;
    for (let i = 0; i < nodes.length; i += 1) {
      for (let j = 0; j < i; j += 1) {
        const [x, y] = [nodes[i].x - nodes[j].x, nodes[i].y - nodes[j].y];
        const push = 1 / Math.max(x * x + y * y, 0.01);
        nodes[i].dx += x * push;
        nodes[i].dy += y * push;
        nodes[j].dx -= x * push;
        nodes[j].dy -= y * push;
      }
    }
    for (const [a, b, pull] of ends) {
      const [x, y] = [a.x - b.x, a.y - b.y];
      const by = Math.hypot(x, y) * pull;
      a.dx -= x * by;
      a.dy -= y * by;
      b.dx += x * by;
      b.dy += y * by;
    }
    for (const node of nodes.slice(1)) {
      const far = Math.max(Math.hypot(node.dx, node.dy), 1e-6);
      node.x += (node.dx / far) * Math.min(far, warm);
      node.y += (node.dy / far) * Math.min(far, warm);
    }
  }
  for (const axis of ["x", "y"]) {
    const [least, most] = [Math.min(...nodes.map((node) => node[axis])), Math.max(...nodes.map((node) => node[axis]))];
    for (const node of nodes) {
      const share = (2 * node[axis] - least - most) / Math.max(most - least, 1e-6);
      node[axis] = Math.sign(share) * Math.abs(share) ** (nodes.length > CROWD ? 0.75 : 1); // a crowd stands in the middle
    }
  }
}

export class EntityDrawing {
  /** `values`: what is so of the entity in the middle and is no entity itself, as {kind, value}; `beside`: more buttons. */
  constructor({ entities, edges }, values = [], beside = []) {
    const [centre] = entities;
    this.nodes = [
      ...entities.map((one) => ({ id: one.id, name: one.name, speaks: one.speaks, size: (3.5 + Math.min(5, Math.log2(1 + Number(one.sightings)))) * (entities.length > CROWD ? 0.75 : 1) })),
      ...values.map(({ kind, value }) => ({ id: `${kind} ${value}`, name: value, value: true, size: 2.5 })),
    ];
    this.lines = lines([...edges, ...values.map(({ kind, value }) => ({ one: centre.id, other: `${kind} ${value}`, kind, strength: 0.3, used: "" }))]);
    place(this.nodes, this.lines);
    this.byId = new Map(this.nodes.map((node) => [node.id, node]));
    const times = this.lines.filter((line) => line.used).map((line) => Date.parse(line.used));
    this.span = [Math.min(...times), Math.max(...times)];
    Object.assign(this, { zoom: 1, x: 0, y: 0, lit: null, pressed: new Map() });
    const arrow = svg("marker", { id: "cause", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M 0 1 L 8 4 L 0 7 z" }));
    this.drawing = svg("svg", { class: "known-graph", role: "group", "aria-label": `${visible(centre.name)} and ${this.nodes.length - 1} around it. Arrow keys move, Enter puts one in the middle, plus and minus zoom; the list below says the same.` }, svg("defs", {}, arrow));
    this.told = el("p", { class: "quiet hint", "aria-live": "off" });
    const act = (text, name, run) => el("button", { type: "button", class: "plain", "aria-label": name, title: name, text, on: { click: run } });
    const tools = el("div", { class: "graph-tools" }, el("div", {}, ...beside), act("+", "Nearer (+)", () => this.#scale(ZOOM.step)), act("\u2212", "Farther (-)", () => this.#scale(1 / ZOOM.step)), act("Fit", "All of it (0)", () => this.#fit()));
    this.root = el("div", { class: "graph" }, this.drawing, tools, this.told);
    this.#build();
    this.#listen();
    this.#tell();
    new ResizeObserver(() => this.draw()).observe(this.drawing);
    document.fonts.addEventListener("loadingdone", () => this.draw());
  }

  #build() {
    for (const line of this.lines) {
      const crowd = this.lines.length > CROWD;
      line.path = svg("line", { class: `known-edge${line.cause ? " cause" : ""}`, "stroke-width": (0.75 + (crowd ? 1.5 : 3.5) * line.strength).toFixed(2), "stroke-opacity": this.#fresh(line).toFixed(2), "marker-end": line.cause && !crowd && "url(#cause)" });
      line.word = svg("text", { class: "known-kind", text: brief(line.kinds.join(", "), NAMED), visibility: "hidden" });
    }
    for (const [index, node] of this.nodes.entries()) {
      node.label = svg("text", { text: brief(node.name, NAMED) });
      const dot = node.value ? svg("rect", { x: -2.5, y: -2.5, width: 5, height: 5 }) : svg("circle", { r: node.size.toFixed(1) });
      const parts = [svg("circle", { class: "reach", r: 14 }), dot, node.label];
      const kind = `known${index ? "" : " centre"}${node.value ? " value" : node.speaks ? " speaks" : ""}`;
      node.spot = node.value ? svg("g", { class: kind }, ...parts) : svg("a", { class: kind, href: entityAddress(node.name), tabindex: index ? -1 : 0, "aria-label": visible(node.name) }, ...parts);
      node.spot.dataset.id = node.id;
    }
    const of = (name, parts) => svg("g", { class: name }, ...parts);
    this.drawing.append(of("edges", this.lines.map((line) => line.path)), of("kinds", this.lines.map((line) => line.word)), of("nodes", this.nodes.toReversed().map((node) => node.spot)));
  }

  /** What was used lately is drawn fuller. */
  #fresh(line) {
    const [first, last] = this.span;
    const share = line.used && last > first ? (Date.parse(line.used) - first) / (last - first) : 1;
    return 0.25 + 0.5 * share;
  }

  /** Where a node stands, in pixels. */
  #spot(node) {
    const [width, height] = [this.drawing.clientWidth, this.drawing.clientHeight];
    return [width / 2 + this.x + node.x * (width / 2 - PAD.x) * this.zoom, height / 2 + this.y + node.y * (height / 2 - PAD.y) * this.zoom];
  }

  /** Draw all of it as one looks at it now. */
  draw() {
    if (!this.drawing.clientWidth) return;
    for (const node of this.nodes) {
      node.at = this.#spot(node);
      node.spot.setAttribute("transform", `translate(${node.at[0].toFixed(1)} ${node.at[1].toFixed(1)})`);
    }
    const lit = this.lit ?? (this.#of(this.nodes[0]).length <= SAID ? this.nodes[0] : null);
    for (const line of this.lines) {
      const [a, b] = [this.byId.get(line.one), this.byId.get(line.other)];
      const far = Math.max(Math.hypot(b.at[0] - a.at[0], b.at[1] - a.at[1]), 1);
      const short = line.cause ? (b.size + 3) / far : 0;
      const end = [0, 1].map((i) => b.at[i] - (b.at[i] - a.at[i]) * short);
      for (const [name, value] of Object.entries({ x1: a.at[0], y1: a.at[1], x2: end[0], y2: end[1] })) line.path.setAttribute(name, value.toFixed(1));
      line.shown = lit !== null && (a === lit || b === lit);
      line.path.classList.toggle("lit", this.lit !== null && line.shown);
      line.middle = [(a.at[0] + b.at[0]) / 2, (a.at[1] + b.at[1]) / 2];
    }
    this.drawing.classList.toggle("choosing", this.lit !== null);
    this.#name(lit);
  }

  #of(node) {
    return this.lines.filter((line) => line.one === node.id || line.other === node.id);
  }

  /** Names where they cross no other: first the middle and what is lit, then those with most to do. */
  #name(lit) {
    pen.font = `500 12px ${getComputedStyle(this.drawing).fontFamily}`;
    const taken = this.nodes.map(({ at: [x, y], size }) => [x - size, y - size, x + size, y + size]);
    const free = (box) => taken.every((other) => box[0] >= other[2] || box[2] <= other[0] || box[1] >= other[3] || box[3] <= other[1]);
    const near = new Set(lit ? this.#of(lit).flatMap((line) => [line.one, line.other]) : []);
    for (const { spot, id } of this.nodes) spot.classList.toggle("near", this.lit !== null && near.has(id));
    this.ranks ??= new Map(this.nodes.map((node) => [node.id, this.#of(node).length + node.size]));
    const first = (node) => (node === this.nodes[0] ? 3e3 : 0) + (node === lit ? 2e3 : 0) + (near.has(node.id) ? 1e3 : 0) + this.ranks.get(node.id);
    const fits = (text, x, y, force = false) => {
      const half = pen.measureText(text).width / 2 + 3;
      const box = [x - half, y - 11, x + half, y + 4];
      if (!force && !free(box)) return false;
      taken.push(box);
      return true;
    };
    const say = (label, shown, x = 0, y = 0) => {
      label.setAttribute("visibility", shown ? "visible" : "hidden");
      if (shown) for (const [name, value] of Object.entries({ x, y })) label.setAttribute(name, value.toFixed(1));
    };
    for (const node of this.nodes.toSorted((a, b) => first(b) - first(a))) {
      const [x, y] = node.at;
      const must = node === this.nodes[0] || node === this.lit;
      const offset = [node.size + 13, -node.size - 6].find((dy) => fits(node.label.textContent, x, y + dy)) ?? (must && fits(node.label.textContent, x, y + node.size + 13, true) ? node.size + 13 : null);
      say(node.label, offset !== null, 0, offset ?? 0);
    }
    for (const line of this.lines) say(line.word, line.shown && line.kinds.some((kind) => kind !== "with") && fits(line.word.textContent, line.middle[0], line.middle[1] + 4), line.middle[0], line.middle[1] + 4);
  }

  /** In words: what is pointed at, else what the drawing means. */
  #tell() {
    if (!this.lit) {
      this.told.textContent = "Thicker is stronger, fainter is longer ago. Filled dots speak themselves, squares are values. Open a dot to put it in the middle.";
      return;
    }
    const other = (line) => this.byId.get(line.one === this.lit.id ? line.other : line.one).name;
    const all = this.#of(this.lit).map((line) => `${line.kinds.join(", ")} ${visible(brief(other(line), 30))}${line.used ? ` (${share(line.strength)}, ${ago(line.used)})` : ""}`);
    this.told.textContent = `${visible(brief(this.lit.name, 60))}: ${all.slice(0, 5).join(" \u00b7 ")}${all.length > 5 ? ` and ${all.length - 5} more` : ""}`;
  }

  #light(node) {
    if (node === this.lit) return;
    this.lit = node;
    this.draw();
    this.#tell();
  }

  #listen() {
    const named = (event) => this.byId.get(event.target.closest?.(".known")?.dataset.id) ?? null;
    this.drawing.addEventListener("pointerover", (event) => event.pointerType === "mouse" && !this.pressed.size && this.#light(named(event)));
    this.drawing.addEventListener("pointerleave", () => this.#light(null));
    this.drawing.addEventListener("focusin", (event) => this.#light(named(event)));
    this.drawing.addEventListener("focusout", () => this.#light(null));
    this.drawing.addEventListener("keydown", (event) => this.#key(event));
    this.drawing.addEventListener("dragstart", (event) => event.preventDefault());
    this.drawing.addEventListener("click", (event) => {
      if (this.moved) event.preventDefault(); // it was moved, not opened
      this.moved = false;
    });
    this.drawing.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page is scrolled
      event.preventDefault();
      this.#scale(Math.exp(-event.deltaY / 250), this.#here(event));
    }, { passive: false });
    this.drawing.addEventListener("pointerdown", (event) => {
      if (!this.pressed.size) this.moved = false;
      this.pressed.set(event.pointerId, [event.clientX, event.clientY]);
    });
    this.drawing.addEventListener("pointermove", (event) => this.#drag(event));
    for (const kind of ["pointerup", "pointercancel", "pointerleave"]) this.drawing.addEventListener(kind, (event) => this.pressed.delete(event.pointerId));
  }

  #here({ clientX, clientY }) {
    const box = this.drawing.getBoundingClientRect();
    return [clientX - box.left - box.width / 2, clientY - box.top - box.height / 2];
  }

  /** One pointer moves the drawing, two move and scale it. */
  #drag(event) {
    const before = this.pressed.get(event.pointerId);
    if (!before || (!event.buttons && event.pointerType === "mouse")) return;
    const now = [event.clientX, event.clientY];
    if (!this.moved && Math.hypot(now[0] - before[0], now[1] - before[1]) < DRAG) return;
    this.moved = true;
    this.drawing.setPointerCapture(event.pointerId);
    const others = [...this.pressed].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    const part = 1 / (1 + others.length);
    this.x += (now[0] - before[0]) * part;
    this.y += (now[1] - before[1]) * part;
    this.pressed.set(event.pointerId, now);
    if (others.length) {
      const apart = (at) => Math.max(1, Math.hypot(at[0] - others[0][0], at[1] - others[0][1]));
      this.#scale(apart(now) / apart(before), this.#here({ clientX: (now[0] + others[0][0]) / 2, clientY: (now[1] + others[0][1]) / 2 }));
    } else this.draw();
  }

  #scale(by, [x, y] = [0, 0]) {
    const zoom = Math.min(ZOOM.most, Math.max(ZOOM.least, this.zoom * by));
    this.x = x - ((x - this.x) * zoom) / this.zoom;
    this.y = y - ((y - this.y) * zoom) / this.zoom;
    this.zoom = zoom;
    this.draw();
  }

  #fit() {
    Object.assign(this, { zoom: 1, x: 0, y: 0 });
    this.draw();
  }

  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const acts = { "+": () => this.#scale(ZOOM.step), "=": () => this.#scale(ZOOM.step), "-": () => this.#scale(1 / ZOOM.step), 0: () => this.#fit() };
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const way = ways[event.key];
    if (!way && !acts[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    if (way) this.#step(way);
    else acts[event.key]();
  }

  /** To the next node that way: near, and not far aside. */
  #step([dx, dy]) {
    const from = this.byId.get(document.activeElement?.dataset?.id) ?? this.nodes[0];
    const cost = (node) => {
      const [x, y] = [node.at[0] - from.at[0], node.at[1] - from.at[1]];
      const along = x * dx + y * dy;
      return along > 1 ? along + 2.5 * Math.abs(x * dy + y * dx) : Infinity;
    };
    const next = this.nodes.filter((node) => node !== from && !node.value && cost(node) < Infinity).sort((a, b) => cost(a) - cost(b))[0];
    if (!next) return;
    from.spot.setAttribute("tabindex", "-1");
    next.spot.setAttribute("tabindex", "0");
    const [width, height] = [this.drawing.clientWidth, this.drawing.clientHeight];
    if (next.at[0] < 0 || next.at[0] > width) this.x += width / 2 - next.at[0];
    if (next.at[1] < 0 || next.at[1] > height) this.y += height / 2 - next.at[1];
    next.spot.focus({ preventScroll: true });
  }
}
