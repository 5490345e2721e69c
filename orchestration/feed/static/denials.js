// What sources deny each other, and the buttons to settle it: a correction is a mark like others, and is taken back.

import { get, list } from "./api.js";
import { el } from "./dom.js";
import { quoted } from "./entity.js";
import { entityAddress } from "./graph.js";
import { outside } from "./text.js";

const LATELY = 6; // settled by operators, that are still shown

export class Denials {
  constructor(marks) {
    this.marks = marks;
    this.all = [];
  }

  /** Ask what is denied, settled or not; whether anything changed. */
  async look() {
    this.all = list(await get("v1/contradictions", { all: true, limit: 200 }), "contradictions");
    const shape = JSON.stringify([this.all, this.marks.marks.filter((mark) => mark.kind === "correct")]);
    const changed = shape !== this.shape;
    this.shape = shape;
    return changed;
  }

  get open() {
    return this.all.filter((one) => !one.settled);
  }

  /** Those that an operator settled lately, who may take it back. */
  get settled() {
    return this.all.filter((one) => one.settled && this.#mark(one)).slice(0, LATELY);
  }

  /** The correction that stands and is about it. */
  #mark(one) {
    const about = (mark) => (one.settled ? one.how === `corrected: ${mark.id}` : mark.target === one.entity && mark.text === one.relation && mark.at >= one.opened);
    return this.marks.marks.find((mark) => mark.kind === "correct" && about(mark));
  }

  /** One, with who says what; or what an operator said of it. */
  item(one) {
    const root = el("li", { class: "denial", data: { denial: one.id } });
    const fill = () => {
      const mark = this.#mark(one);
      root.replaceChildren(...(mark ? this.#said(one, mark) : this.#asked(one)));
    };
    root.addEventListener("click", async (event) => {
      const { value, undo } = event.target.closest("button")?.dataset ?? {};
      if (undo) await this.marks.send("v1/marks/undo", { mark: undo }, root, fill);
      else if (value !== undefined) await this.marks.send("v1/correct", { entity: one.subject, relation: one.relation, value }, root, fill);
    });
    fill();
    return root;
  }

  #head(one) {
    return el("p", { class: "denial-of" }, el("a", { href: entityAddress(one.subject) }, outside(one.subject)), " ", outside(one.relation, { class: "quiet" }));
  }

  #said(one, mark) {
    const right = mark.value ? ["is ", outside(mark.value)] : ["nothing said of it is right"];
    const undo = el("button", { type: "button", class: "plain", data: { undo: mark.id }, text: "Undo" });
    return [this.#head(one), el("p", { class: "quiet" }, outside(mark.by), " said: ", ...right, one.settled ? "" : "; it holds as soon as the mind has heard of it", " ", undo), el("output", { class: "answer" })];
  }

  #asked(one) {
    const lists = one.values.map(() => el("ul", { class: "evidence" }));
    const side = (value, i) => el("div", { class: "side" }, el("button", { type: "button", class: "plain", data: { value } }, outside(value), " is right"), lists[i]);
    const sides = el("div", { class: "sides" }, ...one.values.map(side));
    this.#evidence(one, lists);
    return [this.#head(one), sides, el("button", { type: "button", class: "plain", data: { value: "" }, text: "Neither" }), el("output", { class: "answer" })];
  }

  /** Who says what, once it has been asked. */
  async #evidence(one, lists) {
    try {
      const beliefs = list(await get(`v1/believe/${encodeURIComponent(one.subject)}`, { relation: one.relation }), "beliefs");
      for (const [i, id] of one.facts.entries()) {
        const { evidence } = beliefs.find(({ fact }) => fact.id === id) ?? { evidence: [] };
        lists[i]?.replaceChildren(...evidence.slice(-2).map((said) => quoted(said)));
      }
    } catch {
      // The buttons do without it.
    }
  }
}
