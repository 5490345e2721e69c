// What the mind pursues and what it proposes, with what made it propose that, and the buttons to decide.

import { get, list } from "./api.js";
import { el } from "./dom.js";
import { gauge } from "./entry.js";
import { brief, date, figure, outside, share } from "./text.js";

const LAYERS = { identity: "value", goal: "goal" };
const MET = { conscious: "became conscious", asked: "was told to somebody who asked", useful: "was marked as useful" };

const proposed = (one) => LAYERS[one.proposed];

export class Goals {
  constructor(marks) {
    this.marks = marks;
    this.all = [];
  }

  /** Ask what is pursued and proposed; whether anything changed. */
  async look() {
    this.all = list(await get("v1/goals"), "goals");
    const shape = JSON.stringify(this.all);
    const changed = shape !== this.shape;
    this.shape = shape;
    return changed;
  }

  /** What waits for an operator, and what is pursued. */
  get parts() {
    return { waiting: this.all.filter(proposed), held: this.all.filter((one) => LAYERS[one.layer] && !proposed(one)) };
  }

  /** One, and what was said of it here. */
  item(given) {
    const root = el("li", { class: "goal", data: { goal: given.id } });
    let one = given;
    const fill = (said = "") => root.replaceChildren(...this.#told(one, said));
    root.addEventListener("click", async (event) => {
      const { act, undo } = event.target.closest("button")?.dataset ?? {};
      if (!act && !undo) return;
      const done = undo ? await this.marks.send("v1/marks/undo", { mark: one.id }, root) : await this.marks.send("v1/goals", { goal: one.id, act }, root);
      if (!done) return;
      one = undo ? given : { ...done, evidence: one.evidence };
      fill(undo ? "" : { grant: `Granted: it is a ${LAYERS[done.layer]} now.`, refuse: "Refused: it is not proposed again.", drop: "Dropped." }[act]);
      root.querySelector("button")?.focus();
    });
    fill();
    return root;
  }

  #told(one, said) {
    const button = (act, text) => el("button", { type: "button", class: act === "grant" ? "solid" : "plain", data: { act }, "aria-label": `${text}: ${brief(one.text, 60)}`, text });
    const undo = el("button", { type: "button", class: "plain", data: { undo: "yes" }, "aria-label": `Undo: ${brief(one.text, 60)}`, text: "Undo" });
    const layer = LAYERS[one.layer];
    const acts = [proposed(one) && button("grant", `Grant as a ${proposed(one)}`), proposed(one) && button("refuse", "Refuse"), layer && button("drop", "Drop")];
    return [
      el("p", { class: "goal-of" }, outside(one.text)),
      el(
        "p",
        { class: "meta" },
        el("span", { class: "detail", text: one.id ? layer ?? "" : "of the configuration" }),
        one.weight > 0 && el("span", { class: "detail" }, "weight ", el("b", { text: share(one.weight) })),
        one.weight > 0 && gauge(one.weight, "weight"),
        one.id && one.by && el("span", { class: "detail" }, "by ", outside(one.by)),
      ),
      one.evidence.length > 0 && this.#signals(one.evidence),
      one.id && el("div", { class: "choice" }, said && el("span", { class: "quiet", text: said }), ...(said ? [undo] : acts)),
      one.id && el("output", { class: "answer" }),
    ].filter(Boolean);
  }

  /** The days on which it came up, the latest first. */
  #signals(all) {
    const days = all.length === 1 ? `on ${date(all[0].at)}` : `on ${figure(all.length)} days, ${date(all[0].at)} to ${date(all.at(-1).at)}`;
    const day = ({ at, kind, perception: { id, source } }) => el("li", {}, el("a", { class: "when", href: `#id=${encodeURIComponent(id)}`, title: at, text: date(at) }), ` ${MET[kind] ?? kind}, in what `, outside(source, { class: "source" }), " said");
    return el("details", {}, el("summary", { class: "quiet", text: `Came up ${days}` }), el("ul", { class: "evidence" }, ...all.toReversed().map(day)));
  }
}
