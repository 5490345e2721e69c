// Births, retirements and who permits them: proposals that wait for an approval, and the switch that stops all growth.

import { get, list, post, Problem } from "./api.js";
import { announce, byId, el } from "./dom.js";
import { agoOnWall, brief, figure, outside } from "./text.js";

/** Events of the audit log that are read for the log. */
const EVENTS = 40;
const TOPICS_NAMED = 6;
const APPROVED = { divisions: " Births wait for an approval.", all: " Births and retirements wait for an approval." };
const DOES = { divide: "divide", retire: "retire" };

/** Topics in quotes, the first few. */
export function quoted(topics) {
  const named = topics.slice(0, TOPICS_NAMED).flatMap((topic, index) => [index ? ", \u2018" : "\u2018", outside(brief(topic, 40)), "\u2019"]);
  return el("span", { class: "about" }, ...named, topics.length > TOPICS_NAMED ? ` and ${topics.length - TOPICS_NAMED} more` : "");
}

const plural = (count, one) => `${figure(count)} ${one}${count === 1 ? "" : "s"}`;
const why = (event) => (event.reason ? el("span", { class: "reason" }, " \u2014 ", outside(brief(event.reason, 200))) : "");
const who = (name) => outside(name, { class: "who" });
const did = (text) => el("span", { class: "kind", text });

/** What an event of the audit log says, as parts of a sentence. */
export function sentence(event) {
  const act = DOES[event.act] ?? event.act;
  const topics = event.topics ?? [];
  const took = topics.length ? [" took ", quoted(topics)] : [" was born"];
  const said = {
    divided: () => [who(event.submind), " ", did("divided"), ": ", who(event.other), ...took],
    retired: () => [who(event.submind), " ", did("retired"), ": ", who(event.other), " has what it had"],
    proposed: () => [who(event.submind), ` asks to ${act}`],
    approved: () => [outside(event.by), ` approved that `, who(event.submind), ` may ${act}`],
    rejected: () => [outside(event.by), ` rejected that `, who(event.submind), ` may ${act}`],
    refused: () => [who(event.submind), ` may not ${act}`],
    frozen: () => [did("growth frozen"), " by ", outside(event.by)],
    thawed: () => [did("growth goes on"), ", by ", outside(event.by)],
  };
  return [...(said[event.kind]?.() ?? [outside(event.kind)]), why(event)];
}

/** The part of the page that lets an operator decide, under a `name()`; it passes the same guard as every other request. */
export class Growth {
  constructor({ name, onChange }) {
    Object.assign(this, { name, onChange });
    this.section = byId("growth");
    this.state = byId("growth-state");
    this.list = byId("waiting");
    this.answer = byId("growth-answer");
    this.switch = byId("freeze");
    this.dialog = byId("confirm");
    this.latest = null;
    this.switch.addEventListener("click", () => this.#ask());
    byId("confirm-cancel").addEventListener("click", () => this.dialog.close());
    byId("confirm-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const reason = byId("confirm-reason").value.trim();
      this.dialog.close();
      this.#do(this.frozen ? "v1/growth/thaw" : "v1/growth/freeze", reason, this.frozen ? "Growth goes on." : "Growth is frozen.");
    });
    this.list.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      const { id, act } = button.dataset;
      this.#do(`v1/growth/${encodeURIComponent(id)}/${act}`, "", act === "approve" ? "Approved: it goes ahead, if it still has to." : "Rejected.");
    });
  }

  /** Ask how it stands; nothing where this mind lets nobody decide. */
  async look() {
    const population = await this.#asked("v1/growth", { living: true });
    if (population) this.update(population);
  }

  /** Whether it was answered yet. */
  get known() {
    return Boolean(this.population || this.absent);
  }

  /** The latest events of the audit log, in order. */
  async events() {
    const events = list(await this.#asked("v1/growth/events", { limit: EVENTS }), "events");
    this.#hear(events);
    return events;
  }

  async #asked(path, params) {
    if (this.absent) return null;
    try {
      return await get(path, params);
    } catch (error) {
      if (error.status !== 404) throw error;
      this.absent = true;
      return null;
    }
  }

  /** Births by name, for the network. */
  get members() {
    return new Map((this.population?.members ?? []).map((member) => [member.name, member]));
  }

  get frozen() {
    return Boolean(this.population?.frozen);
  }

  /** What the figures on top say, and whether somebody should look. */
  get word() {
    if (!this.population) return null;
    const waiting = this.population.waiting.length;
    if (this.frozen) return ["Growth frozen", true];
    return waiting ? [`${figure(waiting)} to approve`, true] : ["Growth free", false];
  }

  update(population) {
    this.population = population;
    this.section.hidden = false;
    const { frozen, waiting } = population;
    const parts = frozen
      ? [el("strong", { text: "Growth is frozen" }), " by ", outside(frozen.by), " ", agoOnWall(frozen.at), why(frozen)]
      : [`${figure(population.living)} of at most ${plural(population.ceiling, "submind")}; ${figure(population.births)} of ${plural(population.births_per_hour, "birth")} in the last hour.`, APPROVED[population.approval] ?? ""];
    if (!population.mind_runs) parts.push(" The mind does not run: what is decided here holds once it does.");
    this.state.replaceChildren(...parts);
    this.section.classList.toggle("frozen", Boolean(frozen));
    this.switch.textContent = frozen ? "Thaw growth\u2026" : "Freeze growth\u2026";
    this.switch.setAttribute("aria-pressed", String(Boolean(frozen)));
    this.#offer(waiting);
  }

  #offer(waiting) {
    const shape = `${this.frozen} ${waiting.map((event) => event.seq).join()}`;
    if (shape === this.shape) return;
    if (waiting.length > this.list.childElementCount) announce(`${plural(waiting.length, "proposal")} waiting for an approval`);
    this.shape = shape;
    this.list.hidden = !waiting.length;
    this.list.replaceChildren(...waiting.map((event) => this.#proposal(event)));
  }

  #proposal(event) {
    const act = DOES[event.act] ?? event.act;
    const stopped = (name) => this.frozen && name === "approve";
    const button = (word, name) => el("button", { type: "button", class: name === "approve" ? "solid" : "plain", disabled: stopped(name), title: stopped(name) && "Thaw growth first", data: { id: event.seq, act: name }, "aria-label": `${word}: ${brief(event.submind, 60)} may ${act}`, text: word });
    const about = event.topics?.length ? [event.act === "retire" ? " and leave " : ": a child would take ", quoted(event.topics)] : [];
    return el(
      "li",
      { class: "proposal" },
      el("p", {}, who(event.submind), ` asks to ${act}`, ...about, why(event), " ", agoOnWall(event.at, { class: "ago quiet" })),
      el("div", { class: "choice" }, button("Approve", "approve"), button("Reject", "reject")),
    );
  }

  #ask() {
    byId("confirm-title").textContent = this.frozen ? "Thaw growth?" : "Freeze growth?";
    byId("confirm-text").textContent = this.frozen
      ? "Subminds may divide and retire again, within the bounds this mind was given."
      : "No submind will divide or retire until somebody thaws growth. Everything else goes on.";
    byId("confirm-who").textContent = this.name();
    byId("confirm-do").textContent = this.frozen ? "Thaw" : "Freeze";
    byId("confirm-reason").value = "";
    this.dialog.showModal();
  }

  async #do(path, reason, done) {
    const buttons = [this.switch, ...this.list.querySelectorAll("button")].filter((button) => !button.disabled);
    for (const button of buttons) button.disabled = true;
    this.#say("");
    try {
      await post(path, { by: this.name(), reason });
      this.#say(done);
      await this.onChange();
    } catch (error) {
      const fields = error instanceof Problem ? error.fields.map((field) => field.why) : [];
      this.#say([error.message, ...fields].join(" \u00b7 "), true);
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  }

  #say(text, failed = false) {
    this.answer.className = failed ? "answer error" : "answer";
    this.answer.replaceChildren(outside(text));
  }

  /** Say births and endings aloud that came since the last look. */
  #hear(events) {
    const fresh = this.latest === null ? [] : events.filter((event) => event.seq > this.latest && ["divided", "retired"].includes(event.kind));
    this.latest = Math.max(this.latest ?? 0, ...events.map((event) => event.seq));
    if (fresh.length) announce(el("p", {}, ...sentence(fresh.at(-1))).textContent);
  }
}
