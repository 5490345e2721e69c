// The box to say something to the mind: a perception like any other.

import { post, Problem, send } from "./api.js";
import { byId, el, keep, recall } from "./dom.js";
import { events } from "./follow.js";
import { outside } from "./text.js";

const TALK_KEY = "submind.conversation";
/** Questions of a conversation that are kept, on the page and for what points back. */
const TALK = 16;
const NAME_KEY = "submind.name";
const DEFAULT_NAME = "operator-page";

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function explain(error) {
  if (!(error instanceof Problem)) return error.message;
  const fields = error.fields.filter((field) => !error.detail.includes(field.why)).map((field) => `${field.field}: ${field.why}`);
  const hint = error.status === 0 ? " Nothing is lost: press Say again, it counts once." : "";
  return [error.detail || error.title, ...fields].filter(Boolean).join(" \u00b7 ") + hint;
}

export class SayBox {
  constructor() {
    this.form = byId("say");
    this.words = byId("say-words");
    this.name = byId("say-name");
    this.answer = byId("say-answer");
    this.button = byId("say-send");
    this.sent = { text: "", source: "", key: "" };
    this.thread = byId("conversation");
    try {
      this.talk = JSON.parse(recall("sessionStorage", TALK_KEY) ?? "[]");
    } catch {
      this.talk = [];
    }
    this.#show();
    this.name.value = recall("localStorage", NAME_KEY) ?? DEFAULT_NAME;
    this.name.addEventListener("change", () => keep("localStorage", NAME_KEY, this.name.value.trim() || DEFAULT_NAME));
    this.words.addEventListener("input", () => this.#grow());
    this.words.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.form.requestSubmit();
      } else if (event.key === "Escape") this.words.blur();
    });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
  }

  /** Who speaks, as they name themselves. */
  get who() {
    return this.name.value.trim() || DEFAULT_NAME;
  }

  focus() {
    this.words.focus();
  }

  #grow() {
    this.words.style.height = "auto";
    this.words.style.height = `${Math.min(this.words.scrollHeight, 240)}px`;
    this.form.classList.toggle("has-words", this.words.value.trim() !== "");
  }

  /** The same words under the same name keep their key until they are answered, so a retry is heard once. */
  #keyFor(text, source) {
    if (this.sent.text !== text || this.sent.source !== source) this.sent = { text, source, key: newKey() };
    return this.sent.key;
  }

  #say(kind, ...parts) {
    this.answer.className = `answer ${kind}`;
    this.answer.replaceChildren(...parts);
  }

  /** What is known, at once, where the words ask for anything; the mind answers in its stream as well. */
  async #ask(question) {
    const before = this.talk.slice(1 - TALK);
    const asked = { question, earlier: this.talk.map((one) => one.question) };
    const response = await send("v1/ask", asked, { accept: "text/event-stream" });
    for await (const { event, data } of events(response.body)) {
      if (event !== "answer") continue;
      const told = JSON.parse(data);
      if (!told.asks) return;
      const early = told.state === "starting" || told.state === "down" ? `The mind is ${told.state}; what has been perceived so far:\n` : "";
      const ids = told.parts.map((part) => part.perception.id);
      const by = told.worded_by ? `in the words of ${told.worded_by}` : told.progress;
      this.talk = [...before, { question, text: early + told.text, ids, by }];
      keep("sessionStorage", TALK_KEY, JSON.stringify(this.talk));
      this.#show();
    }
  }

  /** The conversation, newest first. */
  #show() {
    const links = (ids) => ids.map((id, at) => el("a", { href: `#id=${encodeURIComponent(id)}`, text: `[${at + 1}]` }));
    const lines = (text) => text.split("\n").map((line) => el("div", {}, outside(line)));
    const told = (one) => el("li", {}, outside(one.question, { class: "asked" }), ...lines(one.text), ...links(one.ids), one.by ? outside(one.by, { class: "by" }) : "");
    this.thread.replaceChildren(...this.talk.toReversed().map(told));
  }

  async #send() {
    const text = this.words.value.trim();
    const source = this.who;
    if (!text || this.button.disabled) return;
    this.button.disabled = true;
    this.#say("waiting", "Saying it\u2026");
    try {
      const answer = await post("v1/perceptions", { perceptions: [{ source, text, key: this.#keyFor(text, source) }] });
      const receipt = answer.receipts?.[0];
      const link = el("a", { href: `#id=${encodeURIComponent(receipt.id)}`, text: receipt.id });
      if (receipt.new) this.#say("done", "Acknowledged, kept as ", link, ".");
      else this.#say("known", "Already known, as ", link, ".");
      this.sent = { text: "", source: "", key: "" };
      this.words.value = "";
      this.#grow();
      await this.#ask(text);
    } catch (error) {
      this.#say("error", outside(explain(error)));
    } finally {
      this.button.disabled = false;
    }
  }
}
