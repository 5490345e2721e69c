// The network of subminds as it lives: who there is, who talks to whom and how strongly, what flows, who is born or gone.
// Drawn anew only where something changed; places move only when somebody comes or goes.

import { byId, el, narrow, still, svg } from "./dom.js";
import { Flow, between, links } from "./links.js";
import { APART, arrange, route } from "./ring.js";
import { described, legend } from "./submind.js";
import { tabulate } from "./tables.js";
import { brief, figure, outside, share, visible } from "./text.js";

/** Lines drawn at most, the strong ones first; those of the chosen submind always. */
export const LINES = { small: 120, large: 260 };
const ARROWS = 90;
const PULSES = 60;
const PULSES_PER_LINE = 3;
const TWO_LINES = 27; // pixels of a row that has room for two
const LEAVING_MS = 900;
const SYSTEM = new Set(APART);
const pen = document.createElement("canvas").getContext("2d"); // measures, and draws nothing
/** What the report of one says that was born here and has ended. */
const RETIRED = /^it retired;/;

const total = (report) =>
  Object.entries(report.metrics ?? {}).reduce((sum, [name, value]) => (name.endsWith("_total") ? sum + value : sum), 0);

export class Network {
  constructor({ onOpen, onLink }) {
    this.onOpen = onOpen;
    this.onLink = onLink;
    this.section = byId("network");
    this.ring = byId("ring");
    this.detail = byId("submind");
    this.faculties = byId("faculties");
    this.lines = svg("g", { class: "lines" });
    this.captions = svg("g", { class: "captions" });
    this.drawing = svg("svg", { class: "arcs", "aria-hidden": "true" }, this.#arrows(), this.lines, this.captions);
    this.spots = el("div", { class: "spots" });
    this.ring.append(this.drawing, this.spots);
    this.flow = new Flow();
    this.unfolded = new Set();
    this.before = new Set(); // who had reported at the last look
    Object.assign(this, { reports: [], connections: [], links: [], members: new Map(), totals: new Map(), activity: new Map() });
    Object.assign(this, { chosen: null, pinned: null, drawn: new Map(), paths: new Map(), heat: new Map(), every: 5000 });
    new ResizeObserver(() => this.#layOut()).observe(this.ring);
    document.fonts.addEventListener("loadingdone", () => this.plan && this.#place()); // names have another width now
    this.#listen();
  }

  #arrows() {
    const arrow = (id) => svg("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M 0 1 L 8 4 L 0 7 z" }));
    return svg("defs", {}, arrow("arrow"), arrow("arrow-used"), arrow("arrow-out"));
  }

  #listen() {
    const named = (event) => event.target.closest?.("button.spot")?.dataset.name;
    for (const part of [this.spots, this.faculties]) {
      part.addEventListener("mouseover", (event) => this.#choose(named(event) ?? null));
      part.addEventListener("mouseleave", () => this.#choose(null));
      part.addEventListener("focusin", (event) => this.#choose(named(event) ?? null));
      part.addEventListener("focusout", () => this.#choose(null));
      part.addEventListener("click", (event) => named(event) && this.onOpen(named(event)));
    }
    this.spots.addEventListener("keydown", (event) => this.#key(event));
    this.lines.addEventListener("click", (event) => {
      const line = this.paths.get(event.target.closest("g.line")?.dataset.key)?.line;
      if (line) this.onLink(line.owner, line.peer);
    });
  }

  /**
   * What was asked last: reports, the strongest connections `of` so many, members by name (parent, born, retired), and
   * milliseconds between looks.
   */
  update(reports, connections, { of = connections.length, members = new Map(), every = this.every } = {}) {
    Object.assign(this, { reports, connections, of, members, every });
    this.links = links(connections);
    this.flow.measure(this.links);
    for (const report of reports) {
      const now = total(report);
      const grown = Math.max(0, now - (this.totals.get(report.name) ?? now));
      this.activity.set(report.name, 0.7 * (this.activity.get(report.name) ?? 0) + grown);
      this.totals.set(report.name, now);
    }
    const nobody = reports.length === 0;
    byId("graph-empty").hidden = !nobody;
    this.section.classList.toggle("nobody", nobody);
    this.#layOut({ moved: true });
    tabulate(this.reports, this.connections, this.links, of);
  }

  get #nodes() {
    const alive = (report) => !SYSTEM.has(report.role) && !this.members.get(report.name)?.retired && !RETIRED.test(report.reason ?? "");
    return this.reports.filter(alive).map((report) => {
      const { parent, born } = this.members.get(report.name) ?? {};
      return { name: report.name, role: report.role, parent, born: born ? Date.parse(born) : 0, activity: this.totals.get(report.name) };
    });
  }

  get #room() {
    const width = this.ring.clientWidth;
    const large = !narrow.matches && document.body.dataset.view === "network";
    return { width, large, height: large ? Math.max(460, window.innerHeight - 300) : 430 };
  }

  #layOut({ moved = false } = {}) {
    const { width, height, large } = this.#room;
    if (!width) return;
    const nodes = this.#nodes;
    const shape = `${width}x${height} ${large} ${[...this.unfolded].join()} ${nodes.map((node) => `${node.role}/${node.name}/${node.parent}`).join()}`;
    const placed = shape === this.shape;
    if (placed && !moved) return;
    this.large = large;
    if (!placed) {
      this.shape = shape;
      this.plan = arrange(nodes, { width, height, large, unfolded: this.unfolded });
      this.ring.style.height = `${this.plan.height}px`;
      this.ring.classList.toggle("roomy", this.plan.row >= TWO_LINES);
      this.drawing.setAttribute("viewBox", `0 0 ${width} ${this.plan.height}`);
      this.captions.replaceChildren(...this.plan.captions.map((c) => svg("text", { x: c.x.toFixed(1), y: c.y.toFixed(1), "text-anchor": c.side < 0 ? "end" : "start", text: visible(c.text) })));
    }
    this.#place();
    this.#draw(moved);
    this.#light();
  }

  /** Radius in pixels: most of it what was ever done, the rest what is being done now, both on a log scale. */
  #radius(names) {
    const sum = (map) => names.reduce((all, name) => all + (map.get(name) ?? 0), 0);
    const most = Math.max(1, ...this.totals.values());
    const busiest = Math.max(4, ...this.activity.values());
    return 3 + Math.min(4.5, (2.5 * Math.log1p(sum(this.totals))) / Math.log1p(most) + (2 * Math.log1p(sum(this.activity))) / Math.log1p(busiest));
  }

  /** A button for everyone, at its place: the new beside their parent first, those who went fading where they stood. */
  #place() {
    const here = new Map();
    const reports = new Map(this.reports.map((report) => [report.name, report]));
    const order = [];
    for (const item of this.plan.items) {
      const known = this.drawn.get(item.name);
      const spot = known?.spot ?? this.#spot(item.name);
      const from = known ? null : this.drawn.get(item.parent);
      if (from) spot.style.translate = `${from.item.x}px ${from.item.y}px`;
      if (!known) this.spots.append(spot);
      if (from) spot.getBoundingClientRect(); // so that it moves from there
      if (this.before.size && !this.before.has(item.name)) spot.classList.add("born");
      this.#write(spot, item, item.members.map((name) => reports.get(name)).filter(Boolean));
      here.set(item.name, { spot, item });
      order.push(spot);
    }
    this.#cut(order.map((spot) => spot.querySelector(".name")));
    for (const [name, { spot }] of this.drawn) if (!here.has(name)) this.#leave(spot);
    this.drawn = here;
    this.before = new Set(reports.keys());
    if (!order.some((spot) => spot.tabIndex === 0)) order[0]?.setAttribute("tabindex", "0");
    this.#writeFaculties();
  }

  #spot(name) {
    return el(
      "button",
      { type: "button", class: "spot", tabindex: -1, data: { name } },
      el("span", { class: "dot", "aria-hidden": "true" }),
      el("span", { class: "label" }, el("span", { class: "named" }, outside(name, { class: "name" }), el("span", { class: "tail" })), el("span", { class: "load" })),
    );
  }

  #write(spot, item, reports) {
    const worst = reports.find((report) => report.state !== "running") ?? reports[0];
    const waiting = reports.reduce((sum, report) => sum + report.mailbox, 0);
    const more = item.members.length - 1;
    const load = worst.state !== "running" ? worst.state : waiting > 0 ? `${figure(waiting)} waiting` : "";
    const lately = item.members.reduce((sum, name) => sum + (this.activity.get(name) ?? 0), 0);
    spot.style.translate = `${item.x}px ${item.y}px`;
    spot.style.setProperty("--size", `${Math.round(this.#radius(item.members)) * 2}px`);
    spot.style.setProperty("--label", `${Math.floor(this.plan.label - 16)}px`);
    Object.assign(spot.dataset, { side: item.side < 0 ? "left" : "right", state: worst.state, fold: more > 0 ? "folded" : "" });
    const [, head, tail] = /^(.*?)(-\d+)?$/s.exec(visible(item.name)); // a child's number is what tells it apart
    spot.querySelector(".name").textContent = head;
    spot.querySelector(".tail").textContent = (tail ?? "") + (more > 0 ? ` +${more}` : "");
    const roomy = this.plan.row >= TWO_LINES;
    const shown = this.large && roomy ? [load, brief(worst.goal, 80)].filter(Boolean).join(" \u00b7 ") : load;
    spot.querySelector(".load").textContent = roomy || this.large || worst.state !== "running" ? shown : "";
    spot.querySelector(".dot").classList.toggle("active", lately >= 0.5);
    const told = [worst.role, worst.state === "running" ? "" : worst.state, load && worst.state === "running" ? load : "", more > 0 ? `with ${more} of its line` : ""];
    spot.setAttribute("aria-label", `${visible(item.name)}, ${told.filter(Boolean).join(", ")}`);
  }

  /** What has no room ends in dots right after a whole sign; cut by the style alone, a gap stays before the number. */
  #cut(names) {
    const long = names.filter((name) => name.scrollWidth > name.clientWidth).map((name) => [name, name.clientWidth - 1]);
    if (!long.length) return;
    const { fontWeight, fontSize, fontFamily } = getComputedStyle(long[0][0]);
    pen.font = `${fontWeight} ${fontSize} ${fontFamily}`;
    for (const [name, room] of long) {
      const signs = [...name.textContent];
      const upTo = (count) => `${signs.slice(0, count).join("")}\u2026`;
      let count = signs.length - 1;
      while (count > 1 && pen.measureText(upTo(count)).width > room) count -= 1;
      name.textContent = upTo(count);
    }
  }

  #leave(spot) {
    spot.classList.add("leaving");
    spot.setAttribute("tabindex", "-1");
    setTimeout(() => spot.remove(), still.matches ? 0 : LEAVING_MS);
  }

  #writeFaculties() {
    const found = APART.flatMap((role) => this.reports.filter((report) => report.role === role));
    const shape = found.map((report) => report.name).join();
    if (shape !== this.facultiesShape) {
      this.facultiesShape = shape;
      this.faculties.replaceChildren(...found.map((report) => Object.assign(this.#spot(report.name), { tabIndex: 0 })));
    }
    for (const report of found) {
      const spot = this.faculties.querySelector(`[data-name="${CSS.escape(report.name)}"]`);
      spot.dataset.state = report.state;
      spot.querySelector(".load").textContent = report.state === "running" ? "" : report.state;
      spot.querySelector(".dot").classList.toggle("active", (this.activity.get(report.name) ?? 0) >= 0.5);
    }
    this.faculties.hidden = !found.length;
  }

  #draw(looked) {
    const stands = new Map(this.plan.items.flatMap((item) => item.members.map((name) => [name, item.name])));
    const all = between(this.links, stands);
    const most = this.large ? LINES.large : LINES.small;
    const shown = all.filter((line, index) => index < most || line.owner === this.focus || line.peer === this.focus);
    const centre = this.ring.clientWidth / 2;
    const kept = new Map();
    let pulses = 0;
    for (const line of shown) {
      const [from, to] = [this.drawn.get(line.owner).item, this.drawn.get(line.peer).item];
      const known = this.paths.get(line.key) ?? this.#line(line);
      const warm = looked ? Math.max((this.heat.get(line.key) ?? 0) * 0.5, line.flow ? 1 : 0) : (this.heat.get(line.key) ?? 0);
      this.heat.set(line.key, warm < 0.1 ? 0 : warm);
      known.line = line;
      for (const path of known.group.querySelectorAll("path")) path.setAttribute("d", route(from, to, centre));
      known.path.setAttribute("class", `arc ${line.ltp ? "ltp" : "transient"}${warm >= 0.5 ? " used" : ""}`);
      known.path.setAttribute("stroke-width", (0.75 + 4.25 * line.weight ** 1.5).toFixed(2));
      known.path.setAttribute("stroke-opacity", Math.min(1, 0.14 + 0.6 * line.weight + 0.3 * warm).toFixed(2));
      known.title.textContent = `${visible(line.owner)} to ${visible(line.peer)}: ${share(line.weight)}, ${line.ltp ? "LTP" : "transient"}${line.flow ? `, used ${line.flow} times just now` : ""}`;
      kept.set(line.key, known);
      if (looked && line.flow && !still.matches && !document.hidden && pulses < PULSES) pulses += this.#pulse(known, line);
    }
    for (const [name, { group }] of this.paths) if (!kept.has(name)) group.remove();
    this.paths = kept;
    this.drawing.classList.toggle("with-arrows", shown.length <= ARROWS);
    this.hiddenLines = all.length - shown.length;
  }

  #line(line) {
    const path = svg("path", { "data-owner": line.owner, "data-peer": line.peer });
    const title = svg("title");
    const group = svg("g", { class: "line", "data-key": line.key }, svg("path", { class: "reach" }), path, title);
    this.lines.append(group);
    return { group, path, title };
  }

  /** Light that runs along the line, once for each use, a few at most, over the time between two looks. */
  #pulse({ group, path }, line) {
    const length = path.getTotalLength();
    const times = Math.min(PULSES_PER_LINE, line.flow);
    for (let i = 0; i < times; i += 1) {
      const light = svg("path", { class: "pulse", d: path.getAttribute("d"), "stroke-dasharray": `5 ${length + 10}` });
      group.append(light);
      const delay = (this.every * 0.8 * i) / times + (((line.owner.length * 7 + line.peer.length * 13) % 10) / 10) * 700;
      const run = light.animate([{ strokeDashoffset: 5, opacity: 1 }, { strokeDashoffset: -length, opacity: 1 }], { duration: 1100, delay, easing: "ease-in-out", fill: "backwards" });
      run.finished.then(() => light.remove(), () => light.remove());
    }
    return times;
  }

  /** The submind whose lines are lit: the one pointed at, else the one that is open. */
  get focus() {
    return this.chosen ?? this.pinned?.name ?? null;
  }

  #choose(name) {
    if (name === this.chosen) return;
    this.chosen = name;
    if (this.hiddenLines) this.#draw(false);
    this.#light();
  }

  /** Keep a submind ({name}) or a line ({owner, peer}) lit while the panel tells of it; null for none. */
  pin(what) {
    this.pinned = what;
    if (this.plan) {
      this.#draw(false);
      this.#light();
    }
  }

  #light() {
    const name = this.focus;
    const link = this.chosen === null ? this.pinned : null;
    const near = new Set([name, link?.owner, link?.peer]);
    this.ring.classList.toggle("choosing", Boolean(name || link?.owner));
    for (const { path, line } of this.paths.values()) {
      const open = Boolean(link?.owner) && line.owner === link.owner && line.peer === link.peer;
      const out = line.owner === name || open;
      path.classList.toggle("out", out);
      path.classList.toggle("in", line.peer === name);
      if (out || line.peer === name) near.add(line.owner).add(line.peer);
    }
    for (const [own, { spot }] of this.drawn) {
      spot.classList.toggle("chosen", own === name);
      spot.classList.toggle("near", near.has(own));
    }
    const report = this.reports.find((candidate) => candidate.name === name);
    const hidden = { subminds: this.plan?.hidden ?? 0, lines: this.hiddenLines ?? 0, connections: Math.max(0, (this.of ?? 0) - this.connections.length) };
    this.detail.replaceChildren(...(report ? described(report, this.links, this.members) : legend(this.links, hidden)));
  }

  #key(event) {
    const spot = event.target.closest("button.spot");
    if (!spot || event.altKey || event.ctrlKey || event.metaKey) return;
    const items = this.plan.items;
    const at = items.findIndex((item) => item.name === spot.dataset.name);
    const across = () => {
      const other = items.filter((item) => item.side !== items[at].side);
      return other.toSorted((a, b) => Math.abs(a.y - items[at].y) - Math.abs(b.y - items[at].y))[0];
    };
    const turns = { ArrowDown: () => items[at + 1], ArrowUp: () => items[at - 1], ArrowLeft: across, ArrowRight: across, Home: () => items[0], End: () => items.at(-1) };
    if (!(event.key in turns)) return;
    event.preventDefault();
    event.stopPropagation();
    const target = this.drawn.get(turns[event.key]()?.name)?.spot;
    if (!target) return;
    for (const other of this.spots.querySelectorAll('[tabindex="0"]')) other.setAttribute("tabindex", "-1");
    target.setAttribute("tabindex", "0");
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "nearest" });
  }

  /** Show a line of descent in full, or folded into its founder again. */
  unfold(name, open) {
    if (open) this.unfolded.add(name);
    else this.unfolded.delete(name);
    this.#layOut();
  }

  /** The names an item stands for; empty for one that stands for nobody else. */
  folded(name) {
    const members = this.drawn.get(name)?.item.members ?? [];
    return members.length > 1 ? members : [];
  }
}
