// The memory of the mind: what was perceived is found again, whom and what it knows, and what is to be settled.

import { get } from "./api.js";
import { byId, el } from "./dom.js";
import { Denials } from "./denials.js";
import { entityPage, quoted } from "./entity.js";
import { Goals } from "./goals.js";
import { entityAddress } from "./graph.js";
import { slept } from "./sleep.js";
import { agoElement, brief, figure, outside, passage, share } from "./text.js";

const HITS = 12;
const NAMED = 8;
const LATELY = 30;
const SETTLING = 4; // contradictions shown before somebody asks for all
const HOME = "#memory";

const section = (title, ...parts) => el("section", {}, el("h3", { text: title }), ...parts);

/** Why something was found, in words. */
function reasons(hit) {
  const listed = (words) => words.map((word) => `\u201c${brief(word, 30)}\u201d`).join(", ");
  return [
    hit.words.length > 0 && `has ${listed(hit.words)}`,
    hit.near.length > 0 && `beside it ${listed(hit.near)}`,
    hit.when && `of \u201c${brief(hit.when, 40)}\u201d`,
    hit.who && `said by ${brief(hit.who, 40)}`,
    hit.goal && `bears on the goal \u201c${brief(hit.goal, 40)}\u201d`,
    hit.meaning > 0.2 && `meaning ${share(hit.meaning)}`,
    `trust ${share(hit.trust)}`,
    hit.also > 0 && `${figure(hit.also)} more say the same`,
    hit.counted > 0 && `${figure(hit.counted)} of them only counted`,
  ].filter(Boolean);
}

function found(hit) {
  const { id, source, time } = hit.perception;
  const beside = (before) => hit.around.filter((one) => (one.perception.time < time) === before).map((one) => quoted(one, { class: "beside" }));
  return el(
    "li",
    {},
    el("ul", { class: "evidence" }, ...beside(true)),
    passage(hit.text, { limit: 400 }),
    el("p", { class: "meta" }, outside(source, { class: "source" }), agoElement(time), el("span", { class: "detail" }, outside(reasons(hit).join(" \u00b7 "))), el("a", { href: `#id=${encodeURIComponent(id)}`, "aria-label": `Lineage of ${brief(hit.text, 80)}`, text: "lineage" })),
    el("ul", { class: "evidence" }, ...beside(false)),
  );
}

const chips = (entities) => el("ul", { class: "chips" }, ...entities.map((one) => el("li", {}, el("a", { href: entityAddress(one.name), class: one.speaks ? "speaks" : "" }, outside(one.name)))));

function nothingKnown() {
  return el(
    "div",
    { class: "empty" },
    el("p", { class: "lead", text: "Nothing is known yet." }),
    el("p", { text: "A mind takes plain statements for facts: who is responsible for what, where something is, what it costs, what was promised." }),
    el("pre", {}, el("code", { text: 'echo "Ana: ladder 7 is in bay 3" | submind perceive - --source chat\nsubmind know "ladder 7"' })),
    el("p", { text: "Whatever was perceived is found in the box above, fact or not." }),
  );
}

export class Memory {
  constructor(marks) {
    this.denials = new Denials(marks);
    this.goals = new Goals(marks);
    this.content = byId("memory-content");
    this.words = byId("recall-words");
    this.address = HOME;
    this.stale = true;
    this.turn = 0;
  }

  /** Whether an address names something of the memory. */
  names(address) {
    return /^#(memory$|recall=|know=)/.test(address);
  }

  /** Show what an address names: `#recall=words`, `#know=name`, `#memory`; what is shown already stays as it is. */
  show(address, { recall, know }) {
    if (address === this.address && !this.stale) return;
    Object.assign(this, { address, stale: false });
    this.words.value = recall ?? "";
    this.load = recall ? () => this.#recall(recall) : know ? () => this.#know(know) : () => this.#home();
    this.#fill({ fresh: true });
  }

  /** A slower, older answer never replaces a newer one. */
  async #fill({ fresh = false } = {}) {
    const turn = (this.turn += 1);
    if (fresh) this.content.replaceChildren(el("p", { class: "quiet", text: "Looking\u2026" }));
    let parts;
    try {
      parts = await this.load();
    } catch (error) {
      const nobody = error.status === 404 && "Nothing is known by that name. It may have been said, all the same: look for it in the box above.";
      parts = [el("p", nobody ? { class: "lead", text: nobody } : { class: "error", role: "alert" }, nobody ? "" : outside(error.message))];
    }
    if (turn !== this.turn) return;
    this.content.replaceChildren(...parts);
    if (fresh) window.scrollTo(0, 0);
    if (fresh) this.content.querySelector(".entity-name")?.focus({ preventScroll: true });
  }

  /** The world was looked at again: what is denied or proposed may have changed. */
  async look() {
    if (!this.load || !(await Promise.all([this.denials.look(), this.goals.look()])).some(Boolean)) return;
    if (!this.content.contains(document.activeElement) && !this.content.querySelector("details[open]") && !String(window.getSelection())) this.#fill();
  }

  async #home() {
    const [{ entities }, { sleeps }] = await Promise.all([get("v1/entities", { limit: LATELY }), get("v1/sleeps", { limit: 1 }), this.denials.look(), this.goals.look()]);
    const { open, settled } = this.denials;
    const { waiting, held } = this.goals.parts;
    const goals = (all) => el("ul", { class: "goals" }, ...all.map((one) => this.goals.item(one)));
    const item = (one) => this.denials.item(one);
    const shown = el("ul", { class: "denials" }, ...open.slice(0, SETTLING).map(item));
    const more = open.length > SETTLING && el("button", { type: "button", class: "more", text: `Show all ${open.length}` });
    if (more)
      more.addEventListener("click", () => {
        shown.append(...open.slice(SETTLING).map(item));
        more.remove();
      });
    return [
      open.length > 0 && section(`To settle (${open.length})`, el("p", { class: "quiet", text: "Sources deny each other. Neither is overwritten until somebody says which is right, or takes back what it said." }), shown, more),
      waiting.length > 0 && section(`Proposed (${waiting.length})`, el("p", { class: "quiet", text: "They came up on many days. The mind pursues them as goals, or goals as values, only where somebody grants it." }), el("p", { class: "quiet only-watching", text: "To decide, log in with a token that has the scope operate." }), goals(waiting)),
      held.length > 0 && section("What it pursues", el("p", { class: "quiet", text: "What bears on these comes to mind more easily; on those with a weight, it also comes first in what is recalled." }), goals(held)),
      settled.length > 0 && section("Settled by hand", el("ul", { class: "denials" }, ...settled.map(item))),
      (entities.length > 0 || sleeps.length > 0) && section("Last sleep", ...slept(sleeps[0])),
      entities.length > 0 && section("Lately met", el("p", { class: "quiet", text: "Whom and what the mind came to know, the latest first. In bold who speaks." }), chips(entities)),
      !entities.length && nothingKnown(),
    ].filter(Boolean);
  }

  async #recall(words) {
    const [{ episodes }, { entities }] = await Promise.all([get("v1/recall", { q: words, k: HITS }), get("v1/entities", { q: words, limit: NAMED })]);
    return [
      entities.length > 0 && section("Known by these words", chips(entities)),
      section("Perceived", episodes.length ? el("ol", { class: "hits" }, ...episodes.map(found)) : el("p", { class: "quiet", text: "Nothing that was perceived has these words or their meaning. Fewer words find more; a time (\u201clast Tuesday\u201d) and who said it count too." })),
    ].filter(Boolean);
  }

  async #know(name) {
    const [page] = await Promise.all([get(`v1/know/${encodeURIComponent(name)}`), this.denials.look()]);
    return entityPage(page, (one) => this.denials.item(one));
  }
}
