// Salience of live traces over time. A level evaporates as value * 0.5 ** ((t - at) / half_life), so the curves are
// drawn from the levels themselves, smooth between polls, and dotted beyond now: how they will fade if nobody acts.

import { byId, el, narrow, still, svg } from "./dom.js";
import { brief, mindTime, share, span } from "./text.js";

/** Traces drawn. */
export const DRAWN = 12;
const LISTED = 6;
const LEVELS_KEPT = 60;
const WINDOWS = [60, 300, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86_400, 3 * 86_400, 7 * 86_400, 30 * 86_400];
const FUTURE = 0.2;
const HEIGHT = 200;
const PAD = { top: 10, right: 26, bottom: 22, left: 4 };
const STEPS = 28;
const FAST = 3; // times as fast as the wall that is worth a word

const seconds = (iso) => new Date(iso).getTime() / 1000;

/** Salience at `t` by a level: the chance that stands for what is left of it, as environment/severity.py has it. */
export function salienceAt(level, t) {
  const left = Math.min(1 - 1e-9, level.value * 0.5 ** (Math.max(0, t - level.at) / level.half_life));
  const odds = ((left / (1 - left)) * (0.58 / 0.42)) ** 2;
  return odds / (1 + odds);
}

/** One for each text, the most salient, with how many traces say the same. */
function distinct(traces) {
  const said = new Map();
  for (const trace of traces) {
    const first = said.get(trace.text);
    if (first) first.times += 1;
    else said.set(trace.text, { ...trace, times: 1 });
  }
  return [...said.values()];
}

export class SalienceChart {
  constructor({ onOpen }) {
    this.figure = byId("curves");
    this.list = byId("traces");
    this.note = byId("curves-note");
    this.onOpen = onOpen;
    this.traces = new Map();
    this.order = [];
    this.mind = { now: Date.now() / 1000, wall: Date.now() / 1000, pace: 1 };
    this.drawing = svg("svg", { role: "img", "aria-label": "Salience of the most salient live traces over time", height: HEIGHT });
    this.figure.append(this.drawing);
    new ResizeObserver(() => this.draw()).observe(this.figure);
    narrow.addEventListener("change", () => this.draw());
    this.list.addEventListener("mouseover", (event) => this.#highlight(event.target.closest("li")?.dataset.id));
    this.list.addEventListener("mouseleave", () => this.#highlight(undefined));
    this.list.addEventListener("focusin", (event) => this.#highlight(event.target.closest("li")?.dataset.id));
    this.list.addEventListener("focusout", () => this.#highlight(undefined));
    this.#animate();
  }

  #animate() {
    let beat = 0;
    setInterval(() => {
      beat += 1;
      if (!document.hidden && (!still.matches || beat % 5 === 0)) this.draw();
    }, 1000);
  }

  /** What a poll answered: the live traces, most salient first. */
  update(traces) {
    const wall = Date.now() / 1000;
    const now = mindTime() / 1000;
    const passed = wall - this.mind.wall;
    const pace = this.order.length && passed > 0.5 ? (now - this.mind.now) / passed : 1;
    this.mind = { now, wall, pace: pace > 0.7 && pace < 1.4 ? 1 : Math.max(0, pace) };
    const drawn = distinct(traces).slice(0, DRAWN);
    this.order = drawn.map((trace) => trace.id);
    for (const trace of drawn) this.#remember(trace);
    for (const id of this.traces.keys()) if (!this.order.includes(id)) this.traces.delete(id);
    this.#write();
    this.draw();
  }

  #remember(trace) {
    const known = this.traces.get(trace.id) ?? { levels: [] };
    const level = { value: trace.level.value, at: seconds(trace.level.at), half_life: trace.level.half_life };
    const last = known.levels.at(-1);
    if (!last || level.at > last.at || level.value !== last.value) known.levels.push(level);
    if (known.levels.length > LEVELS_KEPT) known.levels.shift();
    this.traces.set(trace.id, { ...known, trace });
  }

  /** Mind time now, going on between polls. */
  now() {
    return this.mind.now + (Date.now() / 1000 - this.mind.wall) * this.mind.pace;
  }

  #window(now) {
    const ages = [...this.traces.values()].map(({ levels }) => now - levels[0].at).sort((a, b) => a - b);
    const wanted = (ages[Math.floor(ages.length * 0.8)] ?? 0) * 1.1;
    return WINDOWS.find((size) => size >= wanted) ?? WINDOWS.at(-1);
  }

  draw() {
    const width = this.figure.clientWidth;
    if (!width) return;
    const now = this.now();
    const past = this.#window(now);
    const from = now - past;
    const to = now + past * FUTURE;
    const x = (t) => PAD.left + ((t - from) / (to - from)) * (width - PAD.left - PAD.right);
    const y = (s) => PAD.top + (1 - s) * (HEIGHT - PAD.top - PAD.bottom);
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.drawing.setAttribute("width", String(width));
    const lines = this.order.map((id, index) => this.#curve(this.traces.get(id), index, { from, to, now, x, y }));
    this.drawing.replaceChildren(this.#axes({ now, past, width, x, y }), ...lines.toReversed());
    this.#highlight(this.highlighted);
    for (const item of this.list.children) {
      const known = this.traces.get(item.dataset.id);
      if (known) item.querySelector(".number").textContent = share(salienceAt(known.levels.at(-1), now));
    }
  }

  #axes({ now, past, width, x, y }) {
    const group = svg("g", { class: "axes", "aria-hidden": "true" });
    for (const level of [0, 0.5, 1]) {
      group.append(svg("line", { x1: PAD.left, x2: width - PAD.right, y1: y(level), y2: y(level), class: level ? "grid" : "base" }));
      group.append(svg("text", { x: width, y: y(level) + 3.5, "text-anchor": "end", text: level === 0.5 ? ".5" : String(level) }));
    }
    group.append(svg("line", { x1: x(now), x2: x(now), y1: y(1), y2: y(0), class: "now" }));
    for (const [t, label, anchor] of [[now - past, `${span(past)} ago`, "start"], [now - past / 2, span(past / 2), "middle"], [now, "now", "middle"]]) {
      group.append(svg("text", { x: x(t), y: HEIGHT - 6, "text-anchor": anchor, text: label }));
    }
    return group;
  }

  #curve({ trace, levels }, index, { from, to, now, x, y }) {
    const points = (level, start, end) => {
      const path = [];
      for (let i = 0; i <= STEPS; i += 1) {
        const t = start + ((end - start) * i) / STEPS;
        path.push(`${x(t).toFixed(1)} ${y(salienceAt(level, t)).toFixed(1)}`);
      }
      return path.join(" L ");
    };
    const parts = [];
    levels.forEach((level, i) => {
      const end = Math.min(levels[i + 1]?.at ?? now, now);
      const start = Math.max(level.at, from);
      if (end > start) parts.push(points(level, start, end));
    });
    const last = levels.at(-1);
    const current = salienceAt(last, now);
    const opacity = (0.25 + 0.75 * current).toFixed(2);
    const group = svg("g", { class: `curve ${trace.conscious ? "conscious" : ""}`, "data-id": trace.id });
    if (parts.length) group.append(svg("path", { d: `M ${parts.join(" L ")}`, class: "was", "stroke-opacity": opacity }));
    group.append(svg("path", { d: `M ${points(last, Math.max(now, last.at), to)}`, class: "will" }));
    group.append(svg("circle", { cx: x(now), cy: y(current), r: index < LISTED ? 3 : 2, "fill-opacity": opacity }));
    group.append(svg("title", { text: `${share(current)} ${brief(trace.text, 90)}` }));
    group.addEventListener("click", () => this.onOpen(trace.id));
    return group;
  }

  #write() {
    this.note.textContent = this.order.length
      ? `Solid so far, dotted as it will fade unless something reinforces it.${this.mind.pace > FAST ? ` The mind\u2019s clock runs about ${Number(this.mind.pace.toPrecision(1))} times as fast as yours.` : ""}`
      : "No trace is live. What is perceived leaves traces here, and they evaporate.";
    this.figure.hidden = !this.order.length;
    const focused = document.activeElement?.closest?.("#traces li")?.dataset.id;
    const items = this.order.slice(0, LISTED).map((id) => {
      const { trace, levels } = this.traces.get(id);
      const open = el("a", { href: `#id=${encodeURIComponent(id)}`, title: brief(trace.text, 400) }, el("bdi", { dir: "auto", text: brief(trace.text, 160) }));
      const half = el("span", { class: "half", title: "half-life", text: `\u00bd ${span(levels.at(-1).half_life)}` });
      if (trace.times > 1) half.prepend(el("span", { class: "times", title: `${trace.times} traces say the same`, text: `\u00d7${trace.times}` }), " ");
      return el("li", { data: { id }, class: trace.conscious ? "conscious" : "" }, el("span", { class: "number", text: share(trace.salience) }), open, half);
    });
    this.list.replaceChildren(...items);
    if (focused) this.list.querySelector(`li[data-id="${CSS.escape(focused)}"] a`)?.focus({ preventScroll: true });
  }

  #highlight(id) {
    this.highlighted = id;
    for (const group of this.drawing.querySelectorAll(".curve")) {
      group.classList.toggle("lit", group.dataset.id === id);
      group.classList.toggle("dim", id !== undefined && group.dataset.id !== id);
    }
  }
}
