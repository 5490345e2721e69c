// What people say of entries and matters: a row of buttons, what stands there, and what is muted.

import { get, list, post } from "./api.js";
import { announce, byId, el } from "./dom.js";
import { outside, short } from "./text.js";

const ACTS = [
  ["useful", "Useful", "u"],
  ["not_useful", "Not useful", "d"],
  ["wrong", "Wrong connection", "w"],
  ["mute", "Mute\u2026", "m"],
  ["settled", "Settled", "e"],
  ["remind", "Remind me\u2026", "r"],
];
const SCOPES = { source: "its source", template: "lines of its form", matter: "its matter" };

/** How a mark that stands is told. */
function told(mark) {
  const mute = mark.kind === "mute";
  const until = mark.until && `${mute ? "until" : "at"} ${short(mark.until)}`;
  return [mark.kind.replace("_", " "), mute && mark.of, mute && outside(mark.value), until].filter(Boolean).flatMap((part) => [part, " "]);
}

export class Marks {
  constructor({ name, onChange }) {
    this.name = name;
    this.onChange = onChange;
    this.marks = [];
    this.section = byId("muted");
    this.section.addEventListener("click", (event) => {
      const id = event.target.closest("button")?.dataset.mark;
      if (id) this.send("v1/marks/undo", { mark: id }, this.section);
    });
  }

  /** Ask what stands, and say that something is muted. */
  async look() {
    this.marks = list(await get("v1/marks"), "marks");
    const muted = this.marks.filter((mark) => mark.kind === "mute");
    const shape = JSON.stringify(muted);
    if (shape === this.shape) return;
    this.shape = shape;
    this.section.hidden = muted.length === 0;
    this.section.replaceChildren(...muted.map((mark) => el("li", {}, ...told(mark), this.#undo(mark))));
  }

  #undo(mark) {
    return el("button", { type: "button", class: "plain", data: { mark: mark.id }, "aria-label": `Undo: ${mark.kind}`, text: "Undo" });
  }

  /** The buttons of an entry (by number) or a matter, with what stands there. */
  bar(target, without = []) {
    const root = el("div", { class: "marks", role: "group", "aria-label": "What do you say of it?", data: { target } });
    const fill = () => {
      const acts = ACTS.filter(([kind]) => !without.includes(kind)).map(([kind, word, key]) => el("button", { type: "button", class: "plain", data: { act: kind }, title: `${word} (${key})`, text: word }));
      const standing = this.marks.filter((mark) => mark.target === String(target)).map((mark) => el("li", {}, ...told(mark), this.#undo(mark)));
      root.replaceChildren(...acts, el("ul", { class: "standing" }, ...standing), el("output", { class: "answer" }));
    };
    root.addEventListener("click", async (event) => {
      const { act, mark } = event.target.closest("button")?.dataset ?? {};
      if (mark) await this.send("v1/marks/undo", { mark }, root, fill);
      else if (act === "mute" || act === "remind") this.#ask(act, target, root, fill);
      else if (act) await this.send("v1/marks", { target: String(target), kind: act }, root, fill);
    });
    fill();
    return root;
  }

  #ask(act, target, root, fill) {
    const mute = act === "mute";
    const scopes = String(target).startsWith("m-") ? ["matter"] : Object.keys(SCOPES);
    const of = el("select", { "aria-label": "What to mute" }, ...scopes.map((scope) => el("option", { value: scope, text: SCOPES[scope] })));
    const until = el("input", { type: "text", "aria-label": mute ? "For how long" : "When", placeholder: mute ? "2h" : "tomorrow 9:00", maxlength: 200, required: true });
    const form = el("form", { class: "marking" }, mute && of, mute ? " for " : "at ", until, el("button", { type: "submit", class: "solid", text: mute ? "Mute" : "Remind me" }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send("v1/marks", { target: String(target), kind: act, until: until.value, ...(mute && { of: of.value }) }, root, fill);
    });
    root.querySelector("form")?.remove();
    root.insertBefore(form, root.querySelector(".standing"));
    until.focus();
  }

  /** Order what a mark is made or taken back by, and answer what came of it; what is refused is said in `root`. */
  async send(path, body, root, fill = () => {}) {
    try {
      const mark = await post(path, { ...body, by: this.name() });
      await this.look();
      fill();
      announce(`${path.endsWith("undo") ? "Undone" : "Marked"}: ${(mark.kind ?? body.act).replace("_", " ")}`);
      await this.onChange();
      return mark;
    } catch (error) {
      const why = error.fields?.map((field) => field.why).join(" \u00b7 ") || error.message;
      const answer = root.querySelector("output");
      if (answer) answer.replaceChildren(outside(why, { class: "error" }));
      else announce(why);
      return null;
    }
  }

  /** A key was pressed over an entry or in its lineage: do as its button does; whether there is one. */
  key(key) {
    const act = ACTS.find(([, , own]) => own === key)?.[0];
    const button = act && document.querySelector(`#panel[open] .marks [data-act="${act}"]`);
    button?.click();
    return Boolean(button);
  }
}
