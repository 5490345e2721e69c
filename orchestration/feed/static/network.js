// The subminds and what connects them: a list grouped by role, an arc for every pair with a connection. An arc is as
// strong as its strongest topic, solid where that is LTP, dashed where it is transient; a dot grows with activity.

import { byId, el, svg } from "./dom.js";
import { ago, brief, figure, outside, share, visible } from "./text.js";

const ROLES = ["perceptual", "cognitive", "metacognitive", "environment", "attention", "stream", "thinking"];
const SYSTEM = new Set(["environment", "attention", "stream", "thinking"]);
const WIDTH = 116;
const PEERS_LISTED = 8;
const METRICS_LISTED = 8;

/** Connections of each (owner, peer), strongest topic first. */
export function links(connections) {
  const pairs = new Map();
  for (const connection of connections) {
    const key = `${connection.owner}\u0000${connection.peer}`;
    const pair = pairs.get(key) ?? { owner: connection.owner, peer: connection.peer, topics: [] };
    pair.topics.push(connection);
    pairs.set(key, pair);
  }
  for (const pair of pairs.values()) {
    pair.topics.sort((a, b) => b.weight - a.weight);
    pair.weight = pair.topics[0].weight;
    pair.ltp = pair.topics.some((topic) => topic.ltp);
  }
  return [...pairs.values()];
}

const total = (report) =>
  Object.entries(report.metrics ?? {}).reduce((sum, [name, value]) => (name.endsWith("_total") ? sum + value : sum), 0);

function group(report) {
  return SYSTEM.has(report.role) ? "faculties" : report.role;
}

const rank = (role) => (ROLES.indexOf(role) + ROLES.length + 1) % (ROLES.length + 1);

export class Network {
  constructor() {
    this.graph = byId("graph");
    this.detail = byId("submind");
    this.table = byId("connections");
    this.arcs = svg("svg", { class: "arcs", "aria-hidden": "true", width: WIDTH });
    this.rows = el("div", { class: "rows" });
    this.graph.append(this.arcs, this.rows);
    this.reports = [];
    this.links = [];
    this.totals = new Map();
    this.activity = new Map();
    this.chosen = null;
    new ResizeObserver(() => this.#draw()).observe(this.graph);
    for (const event of ["mouseover", "focusin"]) this.rows.addEventListener(event, (e) => this.#choose(e.target.closest("button")?.dataset.name));
    this.rows.addEventListener("mouseleave", () => {
      if (!this.rows.contains(document.activeElement)) this.#choose(null);
    });
    this.rows.addEventListener("focusout", (event) => {
      if (!this.rows.contains(event.relatedTarget)) this.#choose(null);
    });
    this.rows.addEventListener("click", (event) => this.#choose(event.target.closest("button")?.dataset.name));
  }

  update(reports, connections) {
    this.reports = reports.toSorted((a, b) => rank(a.role) - rank(b.role) || a.name.localeCompare(b.name));
    this.connections = connections;
    this.links = links(connections);
    for (const report of reports) {
      const now = total(report);
      const grown = Math.max(0, now - (this.totals.get(report.name) ?? now));
      this.activity.set(report.name, 0.7 * (this.activity.get(report.name) ?? 0) + grown);
      this.totals.set(report.name, now);
    }
    this.#write();
    this.#draw();
    this.#tabulate();
    this.#describe();
  }

  /** Radius in pixels: most of it what was ever done, the rest what is being done now, both on a log scale. */
  #radius(report) {
    const most = Math.max(1, ...this.totals.values());
    const busiest = Math.max(4, ...this.activity.values());
    const ever = Math.log1p(this.totals.get(report.name) ?? 0) / Math.log1p(most);
    const lately = Math.log1p(this.activity.get(report.name) ?? 0) / Math.log1p(busiest);
    return 2.5 + 3 * ever + 2 * lately;
  }

  #write() {
    const shape = this.reports.map((report) => `${report.role}/${report.name}`).join(" ");
    if (shape !== this.shape) {
      this.shape = shape;
      const parts = [];
      let current = "";
      for (const report of this.reports) {
        if (group(report) !== current) {
          current = group(report);
          parts.push(el("h3", { class: "role" }, outside(current)));
        }
        parts.push(
          el(
            "button",
            { type: "button", class: "row", data: { name: report.name }, "aria-describedby": "submind" },
            el("span", { class: "dot", "aria-hidden": "true" }),
            outside(report.name, { class: "name" }),
            el("span", { class: "load" }),
          ),
        );
      }
      this.rows.replaceChildren(...parts);
    }
    for (const report of this.reports) {
      const row = this.#row(report.name);
      const quiet = this.activity.get(report.name) < 0.5;
      row.dataset.state = report.state;
      row.querySelector(".dot").style.setProperty("--size", `${(this.#radius(report) * 2).toFixed(1)}px`);
      row.querySelector(".dot").classList.toggle("active", !quiet);
      const waiting = report.mailbox > 0 ? `${figure(report.mailbox)} waiting` : "";
      row.querySelector(".load").textContent = report.state === "running" ? waiting : report.state;
    }
    const nobody = this.reports.length === 0;
    byId("graph-empty").hidden = !nobody;
    this.detail.hidden = nobody;
    this.table.closest("details").hidden = nobody;
  }

  #row(name) {
    return this.rows.querySelector(`button[data-name="${CSS.escape(name)}"]`);
  }

  #draw() {
    const height = this.rows.offsetHeight;
    if (!height) return;
    this.arcs.setAttribute("height", String(height));
    const at = new Map();
    for (const row of this.rows.querySelectorAll(".row")) at.set(row.dataset.name, row.offsetTop + row.offsetHeight / 2);
    const longest = Math.max(1, ...this.links.map((link) => Math.abs((at.get(link.owner) ?? 0) - (at.get(link.peer) ?? 0))));
    const arcs = [];
    for (const link of this.links.toSorted((a, b) => a.weight - b.weight)) {
      const [from, to] = [at.get(link.owner), at.get(link.peer)];
      if (from === undefined || to === undefined || from === to) continue;
      const reach = 14 + (WIDTH - 24) * Math.sqrt(Math.abs(to - from) / longest) * (to > from ? 1 : 0.86);
      const edge = WIDTH - 2;
      const path = svg("path", {
        d: `M ${edge} ${from} C ${edge - reach * 1.3} ${from} ${edge - reach * 1.3} ${to} ${edge} ${to}`,
        class: `arc ${link.ltp ? "ltp" : "transient"}`,
        "stroke-width": (0.6 + 2.6 * link.weight).toFixed(2),
        "stroke-opacity": (0.16 + 0.6 * link.weight).toFixed(2),
        "data-owner": link.owner,
        "data-peer": link.peer,
      });
      path.append(svg("title", { text: `${visible(link.owner)} to ${visible(link.peer)}: ${share(link.weight)}` }));
      arcs.push(path);
    }
    this.arcs.replaceChildren(...arcs);
    this.#light();
  }

  #choose(name) {
    if (name === undefined || name === this.chosen) return;
    this.chosen = name;
    this.#light();
    this.#describe();
  }

  #light() {
    const name = this.chosen;
    this.graph.classList.toggle("choosing", name !== null);
    for (const arc of this.arcs.children) {
      arc.classList.toggle("out", arc.dataset.owner === name);
      arc.classList.toggle("in", arc.dataset.peer === name);
    }
    const near = new Set(this.links.filter((l) => l.owner === name || l.peer === name).flatMap((l) => [l.owner, l.peer]));
    for (const row of this.rows.querySelectorAll(".row")) {
      row.classList.toggle("chosen", row.dataset.name === name);
      row.classList.toggle("near", near.has(row.dataset.name));
    }
  }

  #describe() {
    const report = this.reports.find((candidate) => candidate.name === this.chosen);
    if (!report) {
      const strong = this.links.filter((link) => link.ltp).length;
      this.detail.replaceChildren(
        el("p", { class: "quiet legend" }, el("span", { class: "key ltp" }), `${strong} strong (LTP)`, el("span", { class: "key transient" }), `${this.links.length - strong} transient`),
        el("p", { class: "quiet", text: "Point at a submind, or move to it with Tab, to see what it is for and whom it talks to." }),
      );
      return;
    }
    const facts = [];
    const fact = (term, ...value) => facts.push(el("dt", { text: term }), el("dd", {}, ...value));
    if (report.state !== "running" || report.reason) fact("state", visible(report.state), report.reason ? ": " : "", report.reason ? outside(report.reason) : "");
    if (report.topics?.length) fact("topics", outside(report.topics.slice(0, 12).join(", ")));
    fact("mailbox", figure(report.mailbox));
    const peers = this.links.filter((link) => link.owner === report.name).sort((a, b) => b.weight - a.weight);
    if (peers.length) {
      const told = peers.slice(0, PEERS_LISTED).map((link) => `${visible(link.peer)} ${share(link.weight)}`);
      fact("talks to", outside(told.join(", ") + (peers.length > told.length ? ` and ${peers.length - told.length} more` : "")));
    }
    const metrics = Object.entries(report.metrics ?? {}).filter(([, value]) => value).slice(0, METRICS_LISTED);
    if (metrics.length) fact("metrics", outside(metrics.map(([name, value]) => `${name.replace(/_total$/, "").replaceAll("_", " ")} ${figure(value)}`).join(", ")));
    fact("reported", ago(report.at));
    fact("lines", "in colour from it, dark to it");
    this.detail.replaceChildren(el("h3", {}, outside(report.name)), el("p", { class: "goal" }, outside(report.goal || "No goal is stated.")), el("dl", {}, ...facts));
  }

  #tabulate() {
    const rows = this.connections
      .toSorted((a, b) => b.weight - a.weight)
      .slice(0, 200)
      .map((c) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, outside(c.owner)),
          el("td", {}, outside(brief(c.label || c.topic, 60))),
          el("td", {}, outside(c.peer)),
          el("td", { class: "num", text: share(c.weight) }),
          el("td", { text: c.ltp ? "LTP" : "transient" }),
          el("td", { class: "num", text: `${figure(c.credited)} of ${figure(c.uses)}` }),
        ),
      );
    this.table.tBodies[0].replaceChildren(...rows);
    byId("connections-count").textContent = this.connections.length > rows.length ? `the ${rows.length} strongest of ${this.connections.length}` : `${rows.length}`;
  }
}
