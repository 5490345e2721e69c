// The stream on the page: newest on top, at most KEEP entries in the document, older ones read when asked for.
// While the reader is further down, or has paused, what arrives is counted and held back, so nothing moves.

import { announce, byId, still } from "./dom.js";
import { entryElement } from "./entry.js";
import { PAGE, readStream } from "./follow.js";
import { brief } from "./text.js";

/** Entries kept in the document. */
export const KEEP = 500;
const TOP_PX = 120;
const RETRY_MS = 4000;
const TOLD_MS = 8000; // between two words to a screen reader: a mind may think faster than anybody listens

export class StreamView {
  constructor({ onOpen }) {
    this.onOpen = onOpen;
    this.feed = byId("feed");
    this.pill = byId("pill");
    this.older = byId("older");
    this.pauseButton = byId("pause");
    this.paused = false;
    this.detached = false; // the newest entries are not in the document, only below `head`
    this.held = [];
    this.head = 0;
    this.untold = 0;
    this.telling = 0;
    this.pill.addEventListener("click", () => this.live());
    this.older.addEventListener("click", () => this.loadOlder());
    this.pauseButton.addEventListener("click", () => this.pause(!this.paused));
    this.feed.addEventListener("click", (event) => this.#click(event));
    this.feed.addEventListener("keydown", (event) => this.#key(event));
    this.feed.addEventListener("focusin", (event) => this.#rove(event.target.closest("article")));
    this.near = new IntersectionObserver((seen) => seen.some((entry) => entry.isIntersecting) && this.loadOlder(), {
      rootMargin: "600px",
    });
    this.near.observe(this.older);
    window.addEventListener("scroll", () => this.#scrolled(), { passive: true });
  }

  /** Replace everything by the newest page. */
  reset(entries) {
    this.held = [];
    this.detached = false;
    this.head = entries.at(-1)?.seq ?? 0;
    this.feed.replaceChildren(...entries.toReversed().map(entryElement));
    this.#settle();
  }

  /** New entries, in order. */
  arrive(entries) {
    this.head = entries.at(-1).seq;
    if (this.reading) {
      this.held.push(...entries);
      if (this.held.length > KEEP) this.held.splice(0, this.held.length - KEEP);
      if (this.held[0].seq > this.newest + 1) this.detached = true;
    } else {
      this.#prepend([...this.held.splice(0), ...entries]); // held while the stream was seen: it need not be any more
    }
    this.#settle();
    this.#tell(entries);
  }

  /** Say what came to who listens: at once after a silence, else together; nothing while the stream is paused. */
  #tell(entries) {
    if (this.paused) return;
    this.untold += entries.length;
    this.latest = entries.at(-1);
    if (this.telling) return;
    const say = () => {
      const { kind, text } = this.latest;
      announce(this.untold === 1 ? `New ${kind}: ${brief(text)}` : `${this.untold} new thoughts, the last: ${brief(text)}`);
      this.untold = 0;
      this.telling = setTimeout(() => {
        this.telling = 0;
        if (this.untold && !this.paused) say();
      }, TOLD_MS);
    };
    say();
  }

  /** True while nothing may move under the reader. */
  get reading() {
    return this.paused || this.detached || (this.#visible && window.scrollY > TOP_PX);
  }

  get #visible() {
    return this.feed.offsetParent !== null;
  }

  get newest() {
    return Number(this.feed.firstElementChild?.dataset.seq ?? 0);
  }

  get oldest() {
    return Number(this.feed.lastElementChild?.dataset.seq ?? 0);
  }

  #prepend(entries) {
    const fresh = entries.filter((entry) => entry.seq > this.newest).toReversed().map(entryElement);
    if (!still.matches && fresh.length <= 3) for (const article of fresh) article.classList.add("arriving");
    this.feed.prepend(...fresh);
    while (this.feed.childElementCount > KEEP) this.feed.lastElementChild.remove();
  }

  /** Days where they change, the pill, the way to older ones, one tab stop. */
  #settle() {
    let above = null;
    let position = 0;
    for (const article of this.feed.children) {
      article.setAttribute("aria-posinset", String((position += 1)));
      article.firstElementChild.hidden = article.dataset.day === above;
      above = article.dataset.day;
    }
    const unseen = this.head - this.newest;
    this.pill.hidden = !(unseen > 0 && this.feed.childElementCount > 0);
    this.pill.textContent = `${unseen} new ${unseen === 1 ? "thought" : "thoughts"}`;
    this.older.hidden = this.oldest <= 1;
    byId("empty").hidden = this.feed.childElementCount > 0 || this.head > 0;
    if (!this.feed.querySelector('article[tabindex="0"]')) this.feed.firstElementChild?.setAttribute("tabindex", "0");
  }

  #scrolled() {
    if (this.held.length && !this.reading) this.#release();
  }

  #release() {
    const held = this.held;
    this.held = [];
    this.#prepend(held);
    this.#settle();
  }

  pause(paused) {
    this.paused = paused;
    this.pauseButton.setAttribute("aria-pressed", String(paused));
    this.pauseButton.textContent = paused ? "Resume" : "Pause";
    if (!this.reading && this.held.length) this.#release();
  }

  /** Back to the newest, at the top. */
  async live() {
    this.pause(false);
    if (this.detached) {
      let head, page;
      do {
        head = this.head;
        page = await readStream(head - PAGE + 1, PAGE);
      } while (head !== this.head); // more came meanwhile
      this.reset(page);
    } else if (this.held.length) {
      this.#release();
    }
    const newest = this.feed.firstElementChild;
    this.#rove(newest);
    newest?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  async loadOlder() {
    if (this.loading || this.oldest <= 1) return;
    this.loading = true;
    this.feed.setAttribute("aria-busy", "true");
    try {
      const upTo = this.oldest - 1;
      const entries = (await readStream(upTo - PAGE + 1, Math.min(PAGE, upTo))).filter((entry) => entry.seq <= upTo);
      this.feed.append(...entries.toReversed().map(entryElement));
      this.#trimTop();
      this.#settle();
      this.older.textContent = "Older thoughts";
      this.#look();
    } catch (error) {
      this.older.textContent = `Older thoughts could not be read: ${error.message}. Try again`;
      setTimeout(() => this.#look(), RETRY_MS);
    } finally {
      this.loading = false;
      this.feed.setAttribute("aria-busy", "false");
    }
  }

  /** Ask anew whether the end is near: a reader who stays there would else wait for a change that never comes. */
  #look() {
    this.near.unobserve(this.older);
    this.near.observe(this.older);
  }

  /** Keep the document bounded when reading far back, without moving what is being read. */
  #trimTop() {
    const surplus = this.feed.childElementCount - KEEP;
    if (surplus <= 0) return;
    const anchor = this.feed.lastElementChild;
    const before = anchor.getBoundingClientRect().top;
    for (let i = 0; i < surplus; i += 1) this.feed.firstElementChild.remove();
    this.held = [];
    this.detached = true;
    window.scrollBy(0, anchor.getBoundingClientRect().top - before);
  }

  /** Mark the entry whose lineage is open; bring the page to it when it is not there yet. */
  async select(seq, { fetch = false } = {}) {
    for (const article of this.feed.querySelectorAll("[aria-current]")) article.removeAttribute("aria-current");
    if (seq === null) return;
    let article = this.find(seq);
    if (!article && fetch && seq <= this.head) {
      const from = Math.max(1, seq - PAGE / 2);
      const entries = await readStream(from, PAGE);
      this.feed.replaceChildren(...entries.toReversed().map(entryElement));
      this.held = [];
      this.detached = (entries.at(-1)?.seq ?? 0) < this.head;
      this.#settle();
      article = this.find(seq);
    }
    if (!article) return;
    article.setAttribute("aria-current", "true");
    if (fetch) article.scrollIntoView({ block: "center" });
  }

  find(seq) {
    return this.feed.querySelector(`article[data-seq="${Number(seq)}"]`);
  }

  #click(event) {
    const article = event.target.closest("article");
    if (!article || event.target.closest("a, button")) return;
    if (String(window.getSelection()).length > 0) return;
    this.onOpen(Number(article.dataset.seq));
  }

  #rove(article) {
    if (!article) return;
    for (const other of this.feed.querySelectorAll('article[tabindex="0"]')) other.setAttribute("tabindex", "-1");
    article.setAttribute("tabindex", "0");
  }

  /** Give an entry the focus, and keep it in view. */
  focus(article) {
    if (!article) return;
    this.#rove(article);
    article.focus({ preventScroll: true });
    article.scrollIntoView({ block: "nearest" });
  }

  /** Move the focus by so many entries, from wherever it is. */
  move(by) {
    const current = document.activeElement?.closest?.("#feed > article");
    if (!current) {
      this.focus(this.feed.querySelector('article[tabindex="0"]') ?? this.feed.firstElementChild);
      return;
    }
    let target = current;
    for (let i = 0; i < Math.abs(by); i += 1) {
      target = (by > 0 ? target.nextElementSibling : target.previousElementSibling) ?? target;
    }
    this.focus(target);
  }

  #key(event) {
    if (event.target.closest("button, a") || event.altKey || event.ctrlKey || event.metaKey) return;
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -KEEP, End: KEEP };
    if (event.key in moves) this.move(moves[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.onOpen(Number(event.target.closest("article").dataset.seq));
    else return;
    event.preventDefault();
  }
}
