// Rates and health: one line of figures on top, the particulars in their own section.

import { byId, el } from "./dom.js";
import { clock, day, figure, mindTime, outside, rate, span, tellMindTime } from "./text.js";

const SECONDS = 1000;
const APART_MS = 90_000; // between the mind's clock and the reader's, from which it is worth a word
const CATCHING_UP = "The mind catches up with the past: its clock runs fast until it meets yours. Thoughts and connections are told by it.";

function fact(term, value, { hint, bad } = {}) {
  return el("div", { class: bad ? "fact bad" : "fact", title: hint }, el("dt", { text: term }), el("dd", {}, value));
}

function listed(value) {
  return Array.isArray(value) ? value : [];
}

const words = (name) => String(name).replaceAll("_", " ");

/** Leaves of a nested object as [path, value]. */
function* leaves(object, path = "") {
  for (const [name, value] of Object.entries(object ?? {})) {
    const at = path ? `${path} ${words(name)}` : words(name);
    if (value === null || value === "" || value === undefined) continue;
    if (Array.isArray(value)) yield [at, value.length ? value.map(String).join(", ") : "none"];
    else if (typeof value === "object") yield* leaves(value, at);
    else yield [at, typeof value === "number" ? figure(value) : String(value)];
  }
}

export class Health {
  constructor() {
    this.figures = byId("figures");
    this.mind = byId("mind");
    this.connection = byId("connection");
    this.alert = byId("alert");
    this.section = byId("health-content");
    this.link = { state: "connecting" };
    setInterval(() => this.#writeLink(), SECONDS);
  }

  /** State of the page's own connection. */
  linkState(link) {
    this.link = link;
    this.#writeLink();
  }

  #writeLink() {
    const { state, until } = this.link;
    const left = until ? Math.max(0, Math.ceil((until - Date.now()) / SECONDS)) : 0;
    const text = { live: "Live", connecting: "Connecting", token: "Token needed", stopped: "Stopped", waiting: `Lost, again in ${left} s` }[state];
    this.connection.dataset.state = state;
    if (this.connection.textContent !== text) this.connection.textContent = text;
  }

  /** What the actors last said of themselves. */
  updateReports(reports) {
    this.reports = reports;
    if (this.status) this.update(this.status);
  }

  /** `growth`: a word on it, and whether somebody should look. */
  update(status, growth = this.growth) {
    Object.assign(this, { status, growth });
    const reports = this.reports ?? [];
    this.mind.textContent = status.mind;
    document.body.dataset.mind = status.state;
    const limitsHit = listed(status.limits).filter((limit) => limit.hits > 0);
    const quarantined = reports.filter((report) => report.state === "quarantined");
    const away = Math.max(quarantined.length, status.subminds?.quarantined ?? 0);
    const running = status.subminds?.running ?? reports.filter((report) => report.state === "running").length;
    const tokens = (status.tokens?.in ?? 0) + (status.tokens?.out ?? 0);
    const all = [
      fact("perceptions a minute", rate(status.perceptions?.per_minute), { hint: `${figure(status.perceptions?.acknowledged)} acknowledged` }),
      fact("thoughts an hour", rate(status.stream?.per_hour), { hint: `${figure(status.stream?.head)} in the stream` }),
      fact("live traces", figure(status.traces?.live), { hint: `${figure(status.traces?.total)} in all` }),
      fact("actors running", figure(running)),
      away > 0 && fact("quarantined", figure(away), { hint: "Subminds that kept dying, and are left alone", bad: true }),
      fact("tokens", figure(tokens)),
      fact("limits hit", figure(limitsHit.length), { bad: limitsHit.length > 0 }),
    ];
    if (status !== this.heard) tellMindTime(status.now);
    this.heard = status;
    this.apart = Math.abs(Date.now() - mindTime()) > APART_MS;
    if (this.apart) all.unshift(fact("mind time", clock(mindTime()), { hint: `${day(mindTime())}. ${CATCHING_UP}` }));
    if (growth) all.splice(growth[1] ? 0 : all.length, 0, fact("", growth[0], { hint: "Whether subminds may divide and retire", bad: growth[1] }));
    this.figures.replaceChildren(...all.filter(Boolean));
    this.#warn(status);
    this.#particulars(status, limitsHit, quarantined);
  }

  /** The mind gave no answer: figures stay, marked as old. */
  lost() {
    document.body.dataset.mind = "unknown";
  }

  #warn(status) {
    const reasons = listed(status.reasons);
    const told = { starting: "The mind is starting.", degraded: "The mind is degraded.", down: "The mind is down. What you say is kept until it is back." }[status.state];
    this.alert.hidden = !told;
    this.alert.classList.toggle("calm", status.state === "starting");
    if (!told) return;
    this.alert.replaceChildren(el("strong", { text: told }), ...reasons.slice(0, 3).map((reason) => el("span", {}, " ", outside(reason))));
  }

  #particulars(status, limitsHit, quarantined) {
    const facts = [];
    const add = (term, value) => facts.push(el("dt", {}, outside(term)), el("dd", {}, outside(value)));
    add("state", status.state);
    if (this.apart) add("mind time", `${day(mindTime())}, ${clock(mindTime())}. ${CATCHING_UP}`);
    if (status.version) add("version", status.version);
    if (Number.isFinite(status.uptime_s)) add("up for", span(status.uptime_s));
    add("perceptions", `${figure(status.perceptions?.head)} in the log, ${figure(status.perceptions?.acknowledged)} since the server began`);
    add("stream", `${figure(status.stream?.head)} entries`);
    add("traces", `${figure(status.traces?.live)} live of ${figure(status.traces?.total)}`);
    for (const [term, value] of leaves(status.tokens, "tokens")) add(term, value);
    for (const [term, value] of leaves(status.substrate, "substrate")) add(term, value);
    const parts = [];
    const reasons = listed(status.reasons);
    if (reasons.length) parts.push(el("h3", { text: "Not as it should be" }), el("ul", { class: "reasons" }, ...reasons.map((reason) => el("li", {}, outside(reason)))));
    if (quarantined.length) {
      const items = quarantined.map((report) => el("li", {}, el("strong", {}, outside(report.name)), ": ", outside(report.reason || "no reason given")));
      parts.push(el("h3", { text: "Quarantined subminds" }), el("ul", { class: "reasons" }, ...items));
    }
    if (limitsHit.length) {
      const items = limitsHit.map((limit) => el("li", {}, outside(words(limit.name)), ` (${figure(limit.limit)}): hit ${figure(limit.hits)} times`));
      parts.push(el("h3", { text: "Limits hit" }), el("ul", { class: "reasons" }, ...items));
    }
    if (!parts.length) parts.push(el("p", { class: "quiet", text: "All is as it should be: no limit hit, nothing quarantined." }));
    this.section.replaceChildren(...parts, el("dl", { class: "particulars" }, ...facts));
  }
}
