// What is going on: open matters, what is owed, and what was settled; each opens to its course.

import { get, list, loggedIn, Problem, request } from "./api.js";
import { byId, el } from "./dom.js";
import { gauge } from "./entry.js";
import { events } from "./follow.js";
import { agoElement, outside, short } from "./text.js";

const SHOWN = 6;
const SETTLE_MS = 300;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** Between two looks though nothing changed: what got no line for an hour is steady by then. */
const STEADY_MS = 300_000;

const sources = (names) => el("span", { class: "sources" }, ...names.slice(0, 4).map((name) => el("span", { class: "source" }, outside(name))));

function line(each) {
  const { source, time } = each.perception;
  const said = each.text.startsWith(`${source}: `) ? each.text.slice(source.length + 2) : each.text;
  return el(
    "li",
    {},
    el("time", { class: "quiet", datetime: time, text: short(time) }),
    el("div", {}, el("span", { class: "source" }, outside(source)), " ", outside(said), each.link && el("i", { class: "quiet", text: ` ${each.link}` })),
  );
}

/** The course of a matter, its latest line last, and the thoughts about it. */
function course(matter) {
  const left = matter.count - matter.lines.length;
  return [
    matter.summary && el("p", {}, outside(matter.summary)),
    el("ol", { class: "course" }, ...matter.lines.map(line)),
    left > 0 && el("p", { class: "quiet", text: `and ${left} more that are not kept` }),
    matter.entries.length > 0 && el("p", { class: "quiet" }, "Thoughts: ", ...matter.entries.flatMap((seq) => [el("a", { href: `#seq-${seq}`, text: `#${seq}` }), " "])),
  ].filter(Boolean);
}

export class Matters {
  constructor(marks) {
    this.marks = marks;
    this.root = byId("matters");
    this.items = byId("matters-list");
    this.owed = byId("owed");
    this.more = byId("matters-more");
    this.open = new Set();
    this.all = false;
    this.more.addEventListener("click", () => {
      this.all = !this.all;
      this.#draw();
    });
  }

  /** Show what there is, again whenever it changes, for as long as the page is seen; never returns. */
  async follow() {
    setInterval(() => this.#soon(), STEADY_MS);
    document.addEventListener("visibilitychange", () => (document.hidden ? this.abort?.abort() : this.wake?.()));
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
      try {
        if (!document.hidden) await this.#listen(() => (wait = FIRST_WAIT_MS));
      } catch (error) {
        if (error instanceof Problem && error.status === 401) await loggedIn();
      }
      await new Promise((resolve) => {
        this.wake = resolve;
        if (!document.hidden) setTimeout(resolve, wait * (0.75 + Math.random() / 2));
      });
    }
  }

  async #listen(opened) {
    this.abort = new AbortController();
    const response = await request("v1/matters/events", { accept: "text/event-stream", signal: this.abort.signal });
    for await (const { event } of events(response.body)) {
      if (event === "comment") continue;
      opened();
      this.#soon();
    }
  }

  /** Look once what happens at a time has happened. */
  #soon() {
    this.looking ??= setTimeout(() => {
      this.looking = null;
      if (this.items.querySelector(".marking")) return this.#soon(); // somebody writes there
      this.look().catch(() => {}); // the next change, or the next connection, tries again
    }, SETTLE_MS);
  }

  /** Ask what there is, and show it where it changed. */
  async look() {
    const told = await get("v1/matters", { limit: 60 });
    const now = JSON.stringify([told.matters, told.loops]);
    if (now === this.shown) return;
    this.shown = now;
    this.matters = list(told, "matters");
    this.loops = list(told, "loops");
    this.#draw();
  }

  #draw() {
    const { matters, loops } = this;
    this.root.hidden = matters.length + loops.length === 0;
    byId("matters-count").textContent = String(matters.filter((each) => each.state !== "settled").length);
    const focused = document.activeElement?.closest("[data-matter]")?.dataset.matter;
    this.items.replaceChildren(...matters.slice(0, this.all ? undefined : SHOWN).map((each) => this.#item(each)));
    this.more.hidden = matters.length <= SHOWN;
    this.more.textContent = this.all ? "Show fewer" : `Show all ${matters.length}`;
    const owed = loops.slice(0, this.all ? undefined : 3);
    this.owed.replaceChildren(...owed.map((loop) => el("li", {}, el("b", { text: loop.dated ? `due ${short(loop.due)}` : "no answer yet" }), " ", el("span", { class: "source" }, outside(loop.perception.source)), " ", outside(loop.text))));
    if (focused) this.items.querySelector(`[data-matter="${focused}"] summary`)?.focus({ preventScroll: true });
  }

  #item(matter) {
    const count = matter.count === 1 ? "1 line" : `${matter.count} lines`;
    const body = el("div", { class: "quiet", text: "Looking…" });
    const item = el(
      "details",
      { class: "matter", open: this.open.has(matter.id), data: { matter: matter.id, state: matter.state } },
      el(
        "summary",
        {},
        el("span", { class: "state", text: matter.state }),
        el("span", { class: "words" }, outside(matter.title)),
        el("span", { class: "meta" }, sources(matter.sources), ` ${count} `, agoElement(matter.changed), " ", matter.state !== "settled" && matter.severity === "critical" && el("b", { class: "critical", text: "critical " }), gauge(matter.salience, "salience")),
      ),
      body,
    );
    const fill = async () => {
      if (!item.open) return this.open.delete(matter.id);
      this.open.add(matter.id);
      try {
        body.replaceChildren(...course(await get(`v1/matters/${matter.id}`)), this.marks.bar(matter.id, ["wrong"]));
        body.className = "";
      } catch (error) {
        body.replaceChildren(el("p", { class: "error", role: "alert" }, outside(error.message)));
      }
    };
    item.addEventListener("toggle", fill);
    return el("li", {}, item);
  }
}
