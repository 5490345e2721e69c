// The panel beside the stream (over it on a narrow screen): a lineage, what a search found, a submind, a connection.

import { get, list } from "./api.js";
import { byId, el, narrow } from "./dom.js";
import { gauge } from "./entry.js";
import { lineage } from "./lineage.js";
import { aboutLine, aboutSubmind } from "./submind.js";
import { agoElement, brief, outside, passage, share } from "./text.js";

export class Panel {
  constructor({ network, marks, onClose, onFollow }) {
    this.network = network;
    this.marks = marks;
    this.renew = null;
    this.dialog = byId("panel");
    this.title = byId("panel-title");
    this.content = byId("panel-content");
    this.onFollow = onFollow;
    this.turn = 0;
    byId("panel-close").addEventListener("click", onClose);
    this.dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      onClose();
    });
    this.dialog.addEventListener("keydown", (event) => {
      if (event.key === "Escape") onClose();
    });
    narrow.addEventListener("change", () => {
      if (!this.dialog.open) return;
      this.dialog.close();
      this.#open();
    });
  }

  get open() {
    return this.dialog.open;
  }

  close() {
    this.turn += 1;
    this.renew = null;
    if (this.dialog.open) this.dialog.close();
    document.body.classList.remove("with-panel");
  }

  #open() {
    if (this.dialog.open) return;
    if (narrow.matches) this.dialog.showModal();
    else this.dialog.show();
    document.body.classList.add("with-panel");
  }

  /** Show what `load` answers under a title; a slower, older answer never replaces a newer one. */
  async #show(title, load) {
    const turn = (this.turn += 1);
    this.renew = null;
    this.title.textContent = title;
    this.content.replaceChildren(el("p", { class: "quiet", text: "Looking\u2026" }));
    this.#open();
    this.content.scrollTop = 0;
    this.dialog.scrollTop = 0;
    this.title.focus({ preventScroll: true });
    let parts;
    try {
      parts = await load();
    } catch (error) {
      parts = [el("p", { class: "error", role: "alert" }, outside(error.message))];
    }
    if (turn !== this.turn) return;
    this.content.replaceChildren(...parts);
    if (document.activeElement === this.title) this.content.querySelector('[role="treeitem"]')?.focus({ preventScroll: true });
  }

  /** The lineage of an entry (by number) or of anything with an id. */
  lineage(reference) {
    const title = /^\d+$/.test(String(reference)) ? `Lineage of #${reference}` : "Lineage";
    return this.#show(title, async () => {
      const root = await get(`v1/explain/${encodeURIComponent(reference)}`);
      const parts = lineage(root, this.onFollow);
      return /^\d+$/.test(String(reference)) ? [this.marks.bar(reference), ...parts] : parts;
    });
  }

  /** A submind, kept up to date while it is shown. */
  submind(name) {
    const unfold = (open) => {
      this.network.unfold(name, open);
      this.content.replaceChildren(...about());
    };
    const about = () => aboutSubmind(name, { ...this.network, folded: this.network.folded(name), unfold });
    const load = async () => about();
    return this.#living(brief(name, 60), load);
  }

  /** The connections from one submind to another, with their history; kept up to date too. */
  line(owner, peer) {
    return this.#living(`${brief(owner, 40)} \u2192 ${brief(peer, 40)}`, () => aboutLine(owner, peer, this.network));
  }

  async #living(title, load) {
    await this.#show(title, load);
    const turn = this.turn;
    this.renew = async () => {
      if (!this.dialog.open || this.content.contains(document.activeElement) || String(window.getSelection()).length) return;
      const parts = await load();
      if (turn === this.turn) this.content.replaceChildren(...parts);
    };
  }

  /** The network was looked at again. */
  refresh() {
    this.renew?.().catch(() => {});
  }

  /** What the mind holds that is near the words. */
  found(words) {
    return this.#show(`Search: ${brief(words, 60)}`, async () => {
      const hits = list(await get("v1/search", { q: words, k: 30 }), "hits");
      const more = el("p", {}, el("a", { href: `#recall=${encodeURIComponent(words)}`, text: "Recall all that was perceived" }));
      if (!hits.length) return [el("p", { class: "quiet", text: "Nothing in the environment is near these words." }), more];
      return [more, el("ol", { class: "hits" }, ...hits.map((hit) => this.#hit(hit)))];
    });
  }

  #hit(hit) {
    const trace = hit.trace ?? hit;
    const salience = hit.salience ?? trace.salience;
    const link = el("a", { href: `#id=${encodeURIComponent(trace.id)}`, class: "detail", text: "lineage", "aria-label": `Lineage of ${brief(trace.text, 80)}` });
    return el(
      "li",
      { class: trace.live === false ? "sunk" : "" },
      passage(trace.text, { limit: 300 }),
      el(
        "p",
        { class: "meta" },
        outside(trace.author ?? "", { class: "source" }),
        " ",
        agoElement(trace.time),
        " ",
        gauge(salience, "salience"),
        " ",
        el("span", { class: "detail" }, `near ${share(hit.score)}`),
        hit.also?.length ? el("span", { class: "detail", title: "Other subminds say the same of the same perceptions." }, `, also ${hit.also.length} other${hit.also.length > 1 ? "s" : ""}`) : "",
        " ",
        trace.live === false ? el("span", { class: "detail", text: "evaporated " }) : "",
        link,
      ),
    );
  }
}
